// Ends at once: what remains is the cost of launching it.
int main() { return 0; }
