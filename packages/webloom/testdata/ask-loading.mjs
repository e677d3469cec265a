// Run by loading.test.ts as a Node of its own, for vitest has its own way of loading TypeScript. Evaluates an expression
// with all that `loading/` exports in scope, and answers with what came of it: for its argument on stdout, and, when it
// was forked, for each message in the folder that it names.

const folder = new URL('../src/loading/', import.meta.url)
const { registerTypeScriptLoader } = await import(new URL('typescript-loader.ts', folder))
registerTypeScriptLoader()

const names = ['import-project-file', 'spider-loader', 'config', 'component-reference']
const modules = await Promise.all(names.map((name) => import(new URL(`${name}.ts`, folder))))
const scope = Object.assign({}, ...modules)

async function answer(expression) {
  try {
    const ask = new Function(...Object.keys(scope), `return (async () => (${expression}))()`)
    return JSON.stringify({ value: await ask(...Object.values(scope)) })
  } catch (error) {
    return JSON.stringify({ code: error.code, message: error.message, stack: error.stack })
  }
}

if (process.argv[2] !== undefined) console.log(await answer(process.argv[2]))
else {
  process.on('message', async ({ folder, expression }) => {
    process.chdir(folder)
    process.send(await answer(expression))
  })
}
