# Begins a run of `report` for each file in `reports` that has none yet.
for file in reports/*.txt; do
    unit=$(basename "$file" .txt)
    case $("$STATEMARK" state "$STATEMARK_RUN/report::$unit" 2>/dev/null | head -n 1) in
    "")
        "$STATEMARK" emit --workflow triage --run-id "$STATEMARK_RUN" --step report:reading --unit "$unit" \
            --type status_change --data '{"status": "running"}' || exit 1
        ;;
    *": failed"* | *": cancelled"*)
        echo "$unit couldn't be sorted"
        exit 1
        ;;
    esac
done
