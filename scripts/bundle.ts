/**
 * Builds the JavaScript of each package from its sources into its `dist/`: a file for each entry, and one for what entries share.
 *
 *     npm run build      the compiler writes the declarations first
 *
 * A crawl needs some seven hundred of our modules, and Node spends 0.4 ms of processor time on each: joined, a command starts in two
 * thirds of the time. Other packages stay imports, ours too, so that each class exists once.
 */

import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type OutputAsset, type OutputChunk, type Plugin, rolldown } from 'rolldown'

const ROOT = join(import.meta.dirname, '..')

/** Files that are entries though no export of their package leads to them: commands, threads, child processes. */
const ENTRIES_BESIDE_EXPORTS: Record<string, string[]> = {
  'create-webloom': ['main'],
  queue: ['locks/lock-keeper-thread'],
  testkit: ['web/fake-web-child'],
  webloom: ['cli', 'bench/bench-site', 'bench/bench-system'],
}

// As the compiler's: Node 22.19 knows no `using`.
const TARGET = 'es2024'

/** All but files, on Windows `C:\…`, and what stands for newer syntax: these become part of the package. */
export const OF_ANOTHER_PACKAGE = /^(?!@oxc-project\/runtime\/|[a-zA-Z]:[\\/])[^./\0]/

/** Stands for `import.meta.url` until it is known which file of `dist/` a module ends up in. */
const OWN_URL = /__webloomUrlOf\("([^"]+)"\)/g

if (import.meta.main) {
  const folders = globSync('packages/*/package.json', { cwd: ROOT }).map((path) => join(ROOT, dirname(path)))
  await Promise.all(folders.map(bundle))
}

async function bundle(folder: string) {
  const build = await rolldown({
    cwd: folder,
    input: entriesOf(folder),
    external: OF_ANOTHER_PACKAGE,
    platform: 'node',
    tsconfig: join(folder, 'tsconfig.json'),
    transform: { target: TARGET },
    plugins: [ownUrls(folder)],
  })
  const { output } = await build.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name].js',
    sourcemap: true,
    sourcemapExcludeSources: true,
    comments: { legal: true, annotation: true, jsdoc: false },
    charset: 'ascii',
  })
  await build.close()
  write(join(folder, 'dist'), output)
}

/** The entries' files below `src/` by their names in `dist/`, without endings. */
function entriesOf(folder: string): Record<string, string> {
  const { exports = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const exported = Object.values<{ default: string }>(exports).map(({ default: path }) =>
    path.replace(/^\.\/dist\/(.*)\.js$/, '$1'),
  )
  const names = [...exported, ...(ENTRIES_BESIDE_EXPORTS[relative(join(ROOT, 'packages'), folder)] ?? [])]
  return Object.fromEntries(names.map((name) => [name, `./src/${name}.ts`]))
}

/** `import.meta.url` stays what it would be if each module had a file of its own in `dist/`: scripts in Lua are found by it. */
function ownUrls(folder: string): Plugin {
  return {
    name: 'own-urls',
    transform(code, id) {
      if (!code.includes('import.meta.url')) return null
      const own = relative(join(folder, 'src'), id)
        .replaceAll('\\', '/')
        .replace(/\.tsx?$/, '.js')
      return { code: code.replaceAll('import.meta.url', `__webloomUrlOf("${own}")`), map: null }
    },
    renderChunk(code, { fileName }) {
      const placed = code.replace(OWN_URL, (_, own: string) =>
        own === fileName
          ? 'import.meta.url'
          : `new URL("${relativeUrl(fileName, own)}", import.meta.url).href`,
      )
      return placed === code ? null : { code: placed, map: null }
    },
  }
}

/** The way from one file of `dist/` to another. */
function relativeUrl(from: string, to: string): string {
  const path = relative(dirname(from), to).replaceAll('\\', '/')
  return path.startsWith('.') ? path : `./${path}`
}

/** What is the same stays untouched, so that what Node has compiled of it stays good; what is left of an earlier build goes. */
function write(dist: string, output: (OutputChunk | OutputAsset)[]) {
  const files = new Map(
    output.map((file) => [file.fileName, file.type === 'chunk' ? file.code : file.source]),
  )
  for (const [name, content] of files) {
    const path = join(dist, name)
    if (existsSync(path) && readFileSync(path).equals(Buffer.from(content))) continue
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  for (const name of globSync('**/*.js{,.map}', { cwd: dist }))
    if (!files.has(name.replaceAll('\\', '/'))) rmSync(join(dist, name))
}
