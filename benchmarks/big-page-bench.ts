/**
 * How long a big page holds the main thread up: read for its links and made into a tree there, and the same in a thread of
 * its own, where the main thread hands the page over and takes what came of it.
 *
 *     node --conditions=webloom-source benchmarks/big-page-bench.ts [--rounds 5]
 *
 * Medians in milliseconds. A tree cannot be handed over as it is: it comes as lists of its nodes, and is put together again.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import {
  isMainThread,
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
  workerData,
} from 'node:worker_threads'
import { type ChildNode, Document, Element, type ParentNode, Text } from 'domhandler'
import { streamHrefs } from '../packages/selectors/src/markup/link-stream.ts'
import { parseDocument } from '../packages/selectors/src/tree/parse-document.ts'

type What = 'links' | 'tree'

/** A tree's nodes in document order, each with the place of its parent. */
interface FlatTree {
  readonly parents: Int32Array
  /** Of texts: ''. */
  readonly names: readonly string[]
  /** Of elements: names and values of their attributes in turn. */
  readonly contents: readonly (string | readonly string[])[]
}

const PAGES_MB = [0.1, 1, 8, 32]

if (isMainThread) await measureAll()
else serve(workerData as MessagePort)

async function measureAll(): Promise<void> {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
  const { port1: port, port2 } = new MessageChannel()
  const thread = new Worker(new URL(import.meta.url), { workerData: port2, transferList: [port2] })
  console.log(
    '| page | links: here | handed over | tree: here | handed over |\n| ---: | ---: | ---: | ---: | ---: |',
  )
  for (const megabytes of PAGES_MB) {
    const body = pageOf(megabytes * 1e6)
    const times = {
      links: [] as number[],
      tree: [] as number[],
      linksAway: [] as number[],
      treeAway: [] as number[],
    }
    for (let round = 0; round < Number(values.rounds); round++) {
      times.links.push(millis(() => linksOf(body)))
      times.tree.push(millis(() => treeOf(body)))
      times.linksAway.push(await handedOver(port, 'links', body))
      times.treeAway.push(await handedOver(port, 'tree', body))
    }
    const row = [times.links, times.linksAway, times.tree, times.treeAway].map((all) =>
      median(all).toFixed(1),
    )
    console.log(`| ${megabytes} MB | ${row.join(' ms | ')} ms |`)
  }
  await thread.terminate()
}

/** What of it the main thread does: the body goes as a copy, as the callback may want it too. */
async function handedOver(port: MessagePort, what: What, body: Uint8Array): Promise<number> {
  const handingMs = millis(() => port.postMessage({ what, body }))
  for (;;) {
    let done = false
    const lookedMs = millis(() => {
      const received = receiveMessageOnPort(port) as { message: string[] | FlatTree } | undefined
      if (!received) return
      done = true
      if (what === 'tree') together(received.message as FlatTree)
    })
    if (done) return handingMs + lookedMs
    await sleep(2)
  }
}

function serve(port: MessagePort): void {
  port.on('message', ({ what, body }: { what: What; body: Uint8Array }) => {
    port.postMessage(what === 'links' ? linksOf(body) : flat(treeOf(body)))
  })
}

function linksOf(body: Uint8Array): string[] {
  return streamHrefs(Buffer.from(body.buffer, body.byteOffset, body.length).toString(), 'a')
}

function treeOf(body: Uint8Array): Document {
  return parseDocument(
    Buffer.from(body.buffer, body.byteOffset, body.length).toString(),
    'html',
    'htmlparser2',
  )
}

function flat(document: Document): FlatTree {
  const parents: number[] = []
  const names: string[] = []
  const contents: (string | readonly string[])[] = []
  const visit = (nodes: readonly ChildNode[], parent: number): void => {
    for (const node of nodes) {
      const place = parents.push(parent) - 1
      const isElement = node instanceof Element
      names.push(isElement ? node.name : '')
      contents.push(isElement ? Object.entries(node.attribs).flat() : ((node as Text).data ?? ''))
      if (isElement) visit(node.children, place)
    }
  }
  visit(document.children, -1)
  return { parents: Int32Array.from(parents), names, contents }
}

function together({ parents, names, contents }: FlatTree): Document {
  const document = new Document([])
  const nodes: ChildNode[] = []
  for (let place = 0; place < names.length; place++) {
    const content = contents[place]!
    const node =
      typeof content === 'string' ? new Text(content) : new Element(names[place]!, attributesOf(content))
    const parent = (parents[place]! < 0 ? document : nodes[parents[place]!]) as ParentNode
    const before = parent.children.at(-1) ?? null
    node.parent = parent
    node.prev = before
    if (before) before.next = node
    parent.children.push(node)
    nodes.push(node)
  }
  return document
}

function attributesOf(pairs: readonly string[]): Record<string, string> {
  const attributes: Record<string, string> = {}
  for (let at = 0; at < pairs.length; at += 2) attributes[pairs[at]!] = pairs[at + 1]!
  return attributes
}

function pageOf(bytes: number): Uint8Array {
  const words = 'the quick brown fox jumps over a lazy dog while '.repeat(3)
  let html = '<!DOCTYPE html><html><head><title>A big page</title></head><body><main>'
  for (let n = 0; html.length < bytes; n++)
    html += `\n<article class="item"><h2><a class="link" href="/item/${n}.html">Item ${n}</a></h2><p>${words}</p></article>`
  return Buffer.from(`${html}</main></body></html>`)
}

function millis(act: () => unknown): number {
  const start = performance.now()
  act()
  return performance.now() - start
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!
}
