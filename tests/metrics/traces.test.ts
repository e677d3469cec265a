/** TRACES: pages as traces of OpenTelemetry, by an SDK that somebody has started. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Request, type Response, type SettingsInput, Spider } from 'webloom'
import { run, startSite } from '../spiders/small-site.ts'

const exporter = new InMemorySpanExporter()

beforeAll(() => {
  const storage = new AsyncLocalStorage<typeof ROOT_CONTEXT>()
  context.setGlobalContextManager({
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, act, self, ...args) => storage.run(active, () => act.call(self as never, ...args)),
    bind: (_, target) => target,
    enable: () => context as never,
    disable: () => context as never,
  })
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  )
})
beforeEach(() => exporter.reset())
afterAll(() => {
  trace.disable()
  context.disable()
})

class Pages extends Spider {
  override name = 'pages'
  site = ''

  override async *start() {
    yield new Request(`${this.site}/`)
  }

  override *parse(response: Response) {
    trace.getTracer('own').startSpan('own').end()
    yield* response.followAll()
  }
}

async function traced(settings: SettingsInput) {
  await using site = await startSite({ '/': '<a href="/two">2</a><a href="/none">gone</a>', '/two': 'b' })
  await run(Pages, site, settings)
  return exporter.getFinishedSpans()
}

test('a page is a trace with its parts, and the page that led to it is a link', async () => {
  const spans = await traced({ TRACES: 1 })
  const pages = spans.filter(({ name }) => name === 'page')
  expect(pages).toHaveLength(3)
  const [first] = pages.filter(({ links }) => links.length === 0)
  const found = pages.filter((page) => page !== first)
  for (const { links, parentSpanContext } of found) {
    expect(links.map(({ context }) => context.spanId)).toEqual([first!.spanContext().spanId])
    expect(parentSpanContext).toBeUndefined()
  }
  expect(new Set(pages.map((page) => page.spanContext().traceId)).size).toBe(3)
  const partsOf = (page: (typeof pages)[number]) =>
    spans.filter(({ parentSpanContext }) => parentSpanContext?.spanId === page.spanContext().spanId)
  expect(partsOf(first!).map(({ name }) => name)).toEqual(['download', 'callback', 'commit'])
  const callback = partsOf(first!).find(({ name }) => name === 'callback')!
  const own = spans
    .filter(({ name }) => name === 'own')
    .map(({ parentSpanContext }) => parentSpanContext?.spanId)
  expect(own).toContain(callback.spanContext().spanId)
  const gone = found.find(({ attributes }) => String(attributes['url.full']).endsWith('/none'))!
  expect(partsOf(gone).map(({ name }) => name)).toContain('download')
  expect(first!.attributes).toMatchObject({ 'http.response.status_code': 200, 'webloom.crawl': 'pages' })
})

test('without TRACES there is none', async () => {
  expect((await traced({})).filter(({ name }) => name !== 'own')).toEqual([])
})
