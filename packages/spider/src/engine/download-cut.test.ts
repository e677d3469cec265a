import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { DownloadCut } from './download-cut.ts'

const NEVER = new AbortController().signal

test('a download that is cut rejects at once, even where nobody heeds the signal', async () => {
  const cut = new DownloadCut(NEVER)
  const over = cut.over(new Promise(() => {}))
  cut.now('no longer wanted')
  await expect(over).rejects.toBe('no longer wanted')
  expect(cut.signal.aborted).toBe(true)
})

test('one that was cut before it began rejects, too', async () => {
  const cut = new DownloadCut(NEVER)
  cut.now('no longer wanted')
  await expect(cut.over(new Promise(() => {}))).rejects.toBe('no longer wanted')
})

test('what a download came to is not kept by whoever could have cut it', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const cut = new DownloadCut(NEVER)
  const cutLater = () => cut.now('too late')
  const page = await (async () => new WeakRef(await cut.over(Promise.resolve({ body: 'x' }))))()
  // A WeakRef keeps its target until the end of the task that made it.
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  expect(page.deref()).toBeUndefined()
  cutLater()
})
