// The handler behind `meta.browser`

export { BrowserDownloadHandler, type BrowserDownloadHandlerOptions } from './browser-download-handler.ts'
export { type BrowserSettings, browserSettingsOf } from './browser-settings.ts'
export { browserHere } from './chromium/start-chromium.ts'

// Types of what requests ask for, and of what a method named by `script` gets

export type { BrowserClick, BrowserOptions, CapturedAnswer, Rendered } from '@webloom/core'
export type { Page } from 'playwright-core'
