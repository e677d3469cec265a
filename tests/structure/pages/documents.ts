import { globSync } from 'node:fs'
import { isCommand } from '../checks/settings-used.ts'
import { matches, pagesOf, type SourceFile, sourceFiles } from '../files/source-files.ts'

const INSTALLED = (name: string) => name === 'node_modules' || name === 'dist'
const FIXTURES = 'tests/structure/fixtures/'
/** Decisions tell of libraries that were not taken, too, and a guide for those who come from one of its names. */
const NAMES_OF_OTHERS = ['docs/decisions/', 'docs/guides/from-crawlee.md']

/** Files, settings, commands and names of code that a page speaks of and that are not there. */
export function documentProblems(root: string): string[] {
  const sources = sourceFiles(
    root,
    '{packages,tests,benchmarks,scripts,examples,site}/**/*.{ts,tsx,js}',
  ).filter(({ path }) => !path.startsWith(FIXTURES))
  const rules = sourceFiles(root, 'deploy/**/*.yml')
  const known = words([...sources.filter(({ path }) => !/\.test\.tsx?$/.test(path)), ...rules])
  const files = globSync('{packages,tests,benchmarks,scripts,examples,site}/**/*.{ts,tsx,lua}', {
    cwd: root,
    exclude: INSTALLED,
  })
  // Tests read some by which they are run, and name others that are misspelt.
  const environment = new Set(sources.flatMap(({ text }) => matches(text, /\bprocess\.env\.(\w+)/g)))
  const codes = words(sourceFiles(root, 'packages/core/src/errors/errors.ts'))
  const options = optionsIn(sourceFiles(root, 'packages/webloom/src/cli/*.ts'))
  const isFile = (name: string) => files.some((path) => `/${path.replaceAll('\\', '/')}`.endsWith(`/${name}`))
  return pagesOf(root).flatMap(({ path, text }) => {
    const inline = matches(text.replaceAll(/^```[\s\S]*?^```/gm, ''), /`([^`\n]+)`/g)
    const lines = [
      ...inline,
      ...matches(text, /^```sh\n([\s\S]*?)^```/gm).flatMap((block) =>
        block.replaceAll(/(?<=\s)#.*$/gm, '').split('\n'),
      ),
    ]
    const typed = lines.flatMap((line) => matches(line, /(?:^|[\s|(])webloom (?=[a-z])([^|#\n]*)/g))
    const gone = (what: string, names: readonly string[], isThere: (name: string) => boolean) =>
      [...new Set(names)]
        .filter((name) => !isThere(name))
        .map((name) => `${path} names ${what} ${name}, which is not there`)
    return [
      ...gone(
        'the file',
        inline.flatMap((code) => matches(code, /^((?:[\w-]+\/)*[\w-]+\.(?:tsx?|lua))(?:#\w+)?$/g)),
        isFile,
      ),
      ...gone(
        'the command',
        typed.flatMap((line) => matches(line, /^([a-z]+)(?![\w./-])/g)),
        (name) => isCommand(root, name),
      ),
      ...gone(
        'the option',
        typed.flatMap((line) => matches(line, /(?<=\s)(--[a-z][a-z-]*)/g)),
        (name) => options.has(name),
      ),
      ...gone('the setting', settingsIn(text), (name) => known.has(name) || environment.has(name)),
      ...gone('the error code', matches(text, /\b(WL_[A-Z_]*[A-Z])\b/g), (name) => codes.has(name)),
      ...(NAMES_OF_OTHERS.some((page) => path.startsWith(page))
        ? []
        : gone('the code', inline.flatMap(namesIn), (name) => known.has(name))),
    ]
  })
}

function words(files: readonly SourceFile[]): Set<string> {
  return new Set(files.flatMap(({ text }) => text.match(/\w+/g) ?? []))
}

/** Each with its `--no-…`, which takes back what the config says. */
function optionsIn(files: readonly SourceFile[]): Set<string> {
  const written = files.flatMap(({ text }) => matches(text, /(--[a-z][a-z-]*)/g))
  return new Set([...written, '--help', '--version'])
}

/** Names in capitals, less what stands before them in an environment, and those that the page's own code declares. */
function settingsIn(text: string): string[] {
  const plain = text.replaceAll(/\bWL_[A-Z_]+|\bCUSTOM_\w*|\bWEBLOOM_|%\w+/g, ' ')
  const own = new Set(matches(text, /\bconst ([A-Z]\w+)/g))
  return matches(plain, /\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g).filter((name) => !own.has(name))
}

/** `ClassName`, `ClassName.member`, `functionName(…)`. */
function namesIn(code: string): string[] {
  return matches(code, /^([A-Z][a-z]+(?:[A-Z][a-z0-9]*)+)(?=$|[.(])/g).concat(
    matches(code, /^([a-z]\w*[A-Z]\w*)\(/g),
  )
}
