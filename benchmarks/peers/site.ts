/** The site that all systems crawl: 10 000 files under nginx, whose log tells when each page was asked for. */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { tempDir } from '@webloom/testkit'

const LINKS = 30
const PAGE_BYTES = 7400
const WORDS =
  'amber birch cedar delta ember fjord grove heron inlet jetty knoll larch maple north otter pines'.split(' ')

export interface BenchSite {
  readonly start: string
  readonly urls: readonly string[]
  /** What was asked for since the last call: how many pages, how many of them once, and seconds from first to last. */
  visits(): Promise<{ readonly pages: number; readonly different: number; readonly seconds: number }>
  [Symbol.asyncDispose](): Promise<void>
}

/** Every page links to 30 others, so that each is found by many ways and the first page leads to all. */
export async function serveBenchSite(pages: number): Promise<BenchSite> {
  const folder = await tempDir('webloom-bench-')
  const root = join(folder.path, 'site')
  await mkdir(join(root, 'p'), { recursive: true })
  for (let page = 0; page < pages; page++) await writeFile(join(root, 'p', `${page}.html`), html(page, pages))
  const port = await freePort()
  const config = join(folder.path, 'nginx.conf')
  await writeFile(config, nginxConfig(folder.path, root, port))
  await promisify(execFile)('nginx', ['-t', '-c', config]).catch((cause) => {
    throw new Error('the site is served by nginx, which is missing here: apt-get install nginx-light', {
      cause,
    })
  })
  const nginx = spawn('nginx', ['-c', config], { stdio: 'inherit' })
  const exited = once(nginx, 'exit')
  const urls = Array.from({ length: pages }, (_, page) => `http://127.0.0.1:${port}/p/${page}.html`)
  await answering(urls[0]!)
  const log = join(folder.path, 'access.log')
  return {
    start: urls[0]!,
    urls,
    async visits() {
      // nginx writes its buffer when asked to open its logs again.
      nginx.kill('SIGUSR1')
      await new Promise((resolve) => setTimeout(resolve, 300))
      const lines = (await readFile(log, 'latin1')).trim().split('\n')
      await truncate(log)
      const asked = lines.map((line) => line.split(' ')).filter(([, status]) => status === '200')
      const times = asked.map(([at]) => Number(at))
      return {
        pages: asked.length,
        different: new Set(asked.map(([, , path]) => path)).size,
        seconds: Math.max(...times) - Math.min(...times),
      }
    },
    async [Symbol.asyncDispose]() {
      nginx.kill()
      await exited
      await folder.remove()
    },
  }
}

function html(page: number, pages: number): string {
  // Children of a tree first, so that all are reached; the rest are spread evenly and mostly known already.
  const links = Array.from({ length: LINKS }, (_, n) =>
    n < 4 ? (page * 4 + n + 1) % pages : (page * 31 + n * 337) % pages,
  ).map((to, n) => `<li class="entry"><a href="/p/${to}.html">${words(page + n, 3)}</a></li>`)
  const head = `<!DOCTYPE html><html><head><meta charset="utf-8"><title>Page ${page}</title></head><body><h1>Page ${page}</h1><ul>\n${links.join('\n')}\n</ul>\n`
  const paragraph = (n: number) => `<div class="text"><p>${words(page * 7 + n, 24)}</p></div>\n`
  let body = head
  for (let n = 0; body.length < PAGE_BYTES - 30; n++) body += paragraph(n)
  return `${body}</body></html>\n`
}

function words(from: number, count: number): string {
  return Array.from({ length: count }, (_, n) => WORDS[(from * 5 + n * 3) % WORDS.length]).join(' ')
}

function nginxConfig(folder: string, root: string, port: number): string {
  return `daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 512; }
http {
  log_format visit '$msec $status $request_uri';
  access_log ${folder}/access.log visit buffer=64k flush=1s;
  types { text/html html; }
  keepalive_requests 1000000;
  open_file_cache max=10000;
  client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
  uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
  server { listen 127.0.0.1:${port}; root ${root}; }
}
`
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || !address) throw new Error('no free port')
  return address.port
}

async function answering(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await (await fetch(url)).arrayBuffer()
      return
    } catch (error) {
      if (tries === 50) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
