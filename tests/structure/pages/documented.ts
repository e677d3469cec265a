import { differences, matches, packageSources, sourceFiles, textOf } from '../files/source-files.ts'

/** Settings of the table against docs/settings.md, both ways. */
export function settingProblems(root: string): string[] {
  const inCode = sourceFiles(root, 'packages/core/src/settings/settings-table/**/*.ts').flatMap(({ text }) =>
    matches(text, /\bname: '([A-Z][A-Z0-9_]+)'/g),
  )
  const inDocs = matches(textOf(root, 'docs/settings.md'), /^\| `([A-Z][A-Z0-9_]+)` \|/gm)
  return differences(inCode, inDocs, 'setting', 'docs/settings.md')
}

/** Error codes against docs/errors.md, both ways. */
export function errorCodeProblems(root: string): string[] {
  const inCode = matches(textOf(root, 'packages/core/src/errors/errors.ts'), /^ {2}(WL_[A-Z_]+):/gm)
  const inDocs = matches(textOf(root, 'docs/errors.md'), /^\| `(WL_[A-Z_]+)` \|/gm)
  return differences(inCode, inDocs, 'error code', 'docs/errors.md')
}

/** Keys of meta as the types have them against docs/meta.md, both ways. */
export function metaKeyProblems(root: string): string[] {
  const inCode = matches(textOf(root, 'packages/core/src/requests/meta-keys.ts'), /^ {2}(\w+)\?: /gm)
  const inDocs = matches(textOf(root, 'docs/meta.md'), /^\| `(\w+)` \|/gm)
  return differences(inCode, inDocs, 'meta key', 'docs/meta.md')
}

/** Redis keys, wherever the code or a default writes one, against docs/redis-keys.md, both ways. */
export function redisKeyProblems(root: string): string[] {
  const key = /((?:%\((?:spider|name)\)s|webloom:%\(queue\)s):[\w%():{}-]+)/g
  const inCode = packageSources(root, '{src,lua}/**/*.{ts,tsx,lua}').flatMap(({ text }) => matches(text, key))
  const inDocs = matches(
    textOf(root, 'docs/redis-keys.md'),
    /^\| `((?:%\((?:spider|name)\)s|webloom:%\(queue\)s):[^`]+)` \|/gm,
  )
  return differences(inCode, inDocs, 'Redis key', 'docs/redis-keys.md')
}
