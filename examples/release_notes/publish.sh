# Writes the notes that a person has approved into a file.
set -e
"$STATEMARK" artifacts show "$STATEMARK_RUN" notes >NOTES.md.new
mv NOTES.md.new NOTES.md
echo "NOTES.md is written"
