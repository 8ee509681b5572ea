/** `node read-page.js URL`: prints the page, whatever its status. Run where the server can be reached. */
const answer = await fetch(process.argv[2] ?? '', { signal: AbortSignal.timeout(4_000) });
process.stdout.write(await answer.text());
