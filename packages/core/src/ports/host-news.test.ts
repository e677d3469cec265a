import { expect, test } from 'vitest'
import { laterNews, strictestNews } from './host-news.ts'

test('what came later counts, but the longer pause stays with its reason', () => {
  expect(laterNews(undefined, { delayMs: 50 })).toEqual({ delayMs: 50 })
  expect(laterNews({ delayMs: 900, failures: 2 }, { delayMs: 50, failures: 0 })).toEqual({
    delayMs: 50,
    failures: 0,
  })
  const paused = { pauseMs: 3000, pauseReason: 'it asked to wait' }
  expect(laterNews(paused, { failures: 1, pauseMs: 10, pauseReason: 'it failed' })).toEqual({
    ...paused,
    failures: 1,
  })
  expect(laterNews({ pauseMs: 10, pauseReason: 'it failed' }, paused)).toEqual(paused)
})

test('of one exchange the longer delay counts, whoever tells it first', () => {
  const news = [{ delayMs: 900 }, { delayMs: 50, pauseMs: 10 }] as const
  expect(strictestNews(news[0], news[1])).toEqual({ delayMs: 900, pauseMs: 10 })
  expect(strictestNews(news[1], news[0])).toEqual({ delayMs: 900, pauseMs: 10 })
  expect(strictestNews(undefined, news[0])).toEqual(news[0])
})
