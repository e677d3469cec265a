// Run by screen-processes.test.ts with a slow reader at standard error: all must arrive, though the process exits at once.

const { createLogger } = await import(new URL('../src/terminal/logger.ts', import.meta.url))
const logger = createLogger()
for (let line = 0; line < 6000; line++) logger.info({ line }, 'x'.repeat(50))
process.exit(0)
