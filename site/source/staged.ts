/**
 * The pages as VitePress reads them: those of the repository with links that hold in the site, and those of the API.
 *
 * They are written to a folder that is no source and is not kept. VitePress can read Markdown from several folders of a
 * repository only by rewriting paths, and then neither resolves links between them nor finds generated pages.
 */

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type ApiPage, apiPages } from '../api/api-pages.ts'
import { type Entry, publicEntries } from '../api/entries.ts'
import { readExports } from '../api/exports.ts'
import { linked } from './links.ts'
import { llmsFull, llmsIndex, type WrittenPage } from './llms.ts'
import { pagesOf, readSite, type Site } from './pages.ts'
import { type Group, sidebars } from './sidebars.ts'

export interface Stage {
  /** What the theme shows beside pages, by the beginning of their path. */
  readonly sidebars: Readonly<Record<string, readonly Group[]>>
  /** Each export’s name and page, for tests of the search. */
  readonly exports: readonly { readonly name: string; readonly path: string }[]
}

export const STAGE_FILE = 'stage.json'

/** Writes the pages of the repository, and links of the files that they show. Quick: done again at each change. */
export function stagePages(root: string, folder: string): Site {
  const site = readSite(root)
  const pages = new Map(pagesOf(site).map((page) => [page.source, page]))
  const targets = { root, pages, repository: repositoryOf(root) }
  for (const page of pages.values()) {
    const { text, files } = linked(page, targets)
    write(join(folder, page.path), text)
    for (const file of files) {
      const to = file.replace(/^docs\//, '')
      // VitePress takes images from beside the page, and copies all else from public/.
      cpSync(join(root, file), made(join(folder, /\.(?:svg|png|jpe?g)$/.test(file) ? to : `public/${to}`)))
    }
  }
  return site
}

/** Writes all there is, and what the site's config and tests need to know of it. */
export function stageAll(root: string, folder: string): Stage {
  rmSync(folder, { recursive: true, force: true })
  const site = stagePages(root, folder)
  const entries = publicEntries(root)
  const api = readExports(entries, [join(root, 'node_modules/@types')])
  const described = apiPages(entries, api)
  for (const { path, text } of described) write(join(folder, path), text)
  const stage = {
    sidebars: sidebars(site, entries, api.exports),
    exports: api.exports.map(({ name, path }) => ({ name, path })),
  }
  write(join(folder, STAGE_FILE), JSON.stringify(stage))
  writeForMachines(folder, site, entries, described)
  return stage
}

/** `llms.txt`, one text of all, and each page as the Markdown that `llms.txt` leads to. */
function writeForMachines(
  folder: string,
  site: Site,
  entries: readonly Entry[],
  described: readonly ApiPage[],
): void {
  const read = ({ path, title, summary }: Pick<WrittenPage, 'path' | 'title' | 'summary'>): WrittenPage => {
    const text = readFileSync(join(folder, path), 'utf8')
    write(join(folder, 'public', path), text)
    return { path, title, summary, text }
  }
  const parts = [
    ...site.sections.map(({ title, index, pages }) => ({
      title,
      pages: (index ? [index, ...pages] : pages).map(read),
    })),
    ...entries.map(({ name, folder: home }) => ({
      title: `API of ${name}`,
      pages: described.filter(({ path }) => dirname(path) === home).map(read),
    })),
  ]
  const home = read(site.home)
  write(join(folder, 'public/llms.txt'), llmsIndex(home, parts))
  write(join(folder, 'public/llms-full.txt'), llmsFull(home, parts))
}

/** Where the repository is on the web, once its package.json says so. */
function repositoryOf(root: string): string | undefined {
  const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    repository?: string | { url: string }
  }
  const url = typeof repository === 'string' ? repository : repository?.url
  return url?.replace(/^git\+/, '').replace(/\.git$/, '')
}

function write(path: string, text: string): void {
  writeFileSync(made(path), text)
}

/** The path, once its folder is there. */
function made(path: string): string {
  mkdirSync(dirname(path), { recursive: true })
  return path
}
