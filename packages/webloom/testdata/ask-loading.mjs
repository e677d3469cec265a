// Run by loading.test.ts in a Node of its own, for vitest has its own way of loading TypeScript. Evaluates the
// expression that is its argument, with all that `loading/` exports in scope, and prints what came of it as JSON.

const folder = new URL('../src/loading/', import.meta.url)
const { registerTypeScriptLoader } = await import(new URL('typescript-loader.ts', folder))
registerTypeScriptLoader()

const names = ['typescript-loader', 'import-project-file', 'spider-loader', 'config', 'component-reference', 'spider-class']
const modules = await Promise.all(names.map((name) => import(new URL(`${name}.ts`, folder))))
const scope = Object.assign({ registerTypeScriptLoader }, ...modules)

try {
  const ask = new Function(...Object.keys(scope), `return (async () => (${process.argv[2]}))()`)
  console.log(JSON.stringify({ value: await ask(...Object.values(scope)) }))
} catch (error) {
  console.log(JSON.stringify({ code: error.code, message: error.message, stack: error.stack }))
}
