# Writes a list of what the runs of the reports have found out.
set -e
{
    echo "# Reports"
    echo
    for file in reports/*.txt; do
        unit=$(basename "$file" .txt)
        verdict=$("$STATEMARK" artifacts show "$STATEMARK_RUN/report::$unit" verdict)
        field() {
            printf '%s\n' "$verdict" | sed -n "s/^ *\"$1\": \"\(.*\)\",\{0,1\}\$/\1/p"
        }
        echo "- $unit, a $(field kind): $(field summary)"
    done
} >TRIAGE.md.new
mv TRIAGE.md.new TRIAGE.md
