import { VERSION, versionOf } from '../version.ts'

const LIBRARIES = ['undici', 'cheerio', 'pino', 'commander']

export function showVersion({ verbose, json }: { verbose?: boolean; json?: boolean }): void {
  const versions = {
    webloom: VERSION,
    ...(verbose && {
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
      ...Object.fromEntries(LIBRARIES.map((name) => [name, versionOf(name)])),
    }),
  }
  if (json) {
    console.log(JSON.stringify(versions))
    return
  }
  for (const [name, version] of Object.entries(versions)) console.log(`${name} ${version}`)
}
