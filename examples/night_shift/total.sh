# Adds up prices, one a line.
total=0
while read -r price; do
    total=$((total + price))
done
echo "$total"
