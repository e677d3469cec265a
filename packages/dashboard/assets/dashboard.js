/**
 * What moves: regions that the server has made anew take the place of the old ones, and curves get their points. Without it pages
 * are as they were when they were asked for.
 */

const beat = document.getElementById('beat')
const trouble = document.getElementById('trouble')
const isInTrouble = () => document.body.dataset.trouble === 'true'
/** A heartbeat comes each second. */
const SILENT_MS = 6000

let heardAt = 0

function say(words, tone) {
  if (beat.textContent === words) return
  beat.textContent = words
  beat.className = `beat ${tone}`
}

function heard() {
  heardAt = performance.now()
  say('live', 'good')
}

function troubled(words) {
  trouble.textContent = words
  trouble.hidden = false
  document.body.dataset.trouble = 'true'
  say('waiting', 'bad')
}

function put(regions) {
  // A page that was made in trouble has none of its regions.
  if (Object.keys(regions).some((id) => !document.getElementById(id))) {
    if (isInTrouble()) location.reload()
    return
  }
  document.body.dataset.trouble = 'false'
  trouble.hidden = true
  for (const [id, html] of Object.entries(regions)) putOne(document.getElementById(id), html)
  addPoint()
}

/** What somebody has marked, opened, typed or is at with the keyboard stays as it is. */
function putOne(region, html) {
  const marked = document.getSelection()
  if (marked && !marked.isCollapsed && region.contains(marked.anchorNode)) return
  const fresh = document.createElement('template')
  fresh.innerHTML = html
  putChildren(region, fresh.content)
}

/** Changes what is different, and nothing else: that is less for the browser to draw. */
function putChildren(old, fresh) {
  const wanted = [...fresh.childNodes]
  for (const [n, node] of wanted.entries()) {
    const at = old.childNodes[n]
    // What has a name may stand elsewhere by now.
    const known = (node.id && [...old.children].find(({ id }) => id === node.id)) || at
    if (!known || !isLike(known, node)) old.insertBefore(node, at ?? null)
    else {
      if (known !== at) old.insertBefore(known, at)
      putNode(known, node)
    }
  }
  while (old.childNodes.length > wanted.length) old.lastChild.remove()
}

function isLike(old, node) {
  return old.nodeName === node.nodeName && (old.id ?? '') === (node.id ?? '')
}

function putNode(old, node) {
  if (node.nodeType === Node.TEXT_NODE) {
    if (old.data !== node.data) old.data = node.data
    return
  }
  for (const { name, value } of node.attributes)
    if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  // Details that somebody has opened.
  for (const { name } of [...old.attributes])
    if (name !== 'open' && !node.hasAttribute(name)) old.removeAttribute(name)
  putChildren(old, node)
}

function listen(address) {
  let events = open(address)
  // Nobody looks at a page that is behind others: then nothing is made for it.
  document.addEventListener('visibilitychange', () => {
    events.close()
    if (!document.hidden) events = open(address)
  })
  setInterval(() => {
    // The browser gives up after an answer that is no stream.
    if (events.readyState === EventSource.CLOSED && !document.hidden) events = open(address)
    if (heardAt > 0 && performance.now() - heardAt > SILENT_MS) say('no news', 'warn')
  }, 2000)
}

function open(address) {
  const events = new EventSource(address)
  events.addEventListener('regions', ({ data }) => {
    heard()
    put(JSON.parse(data))
  })
  events.addEventListener('beat', heard)
  events.addEventListener('trouble', ({ data }) =>
    troubled(`${JSON.parse(data)}. This page goes on by itself.`),
  )
  events.addEventListener('error', () =>
    troubled('The dashboard does not answer. This page goes on by itself.'),
  )
  return events
}

// Curves

/** Points are as samples: one each ten seconds. The last one is of this second, and moves until its ten seconds are over. */
const SAMPLE_MS = 10_000
const POINTS_MAX = 8640
const SERIES = [
  { label: 'pages', colour: '--curve-a', fill: '--curve-a-fill' },
  { label: 'items', colour: '--curve-b' },
  { label: 'errors', colour: '--curve-c' },
]

let chart
let points = []

async function draw() {
  const place = document.querySelector('[data-chart]')
  if (!place || !window.uPlot) return
  const answer = await fetch(place.dataset.chart)
  if (!answer.ok) return
  points = await answer.json()
  addPoint()
  if (points.length < 2) return
  place.replaceChildren()
  chart = new window.uPlot(optionsOf(place), columnsOf(points), place)
  new ResizeObserver(() => chart.setSize(sizeOf(place))).observe(place)
  // Colours are drawn, and do not follow the page by themselves.
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => chart.redraw())
}

function columnsOf(all) {
  return [all.map(([at]) => at / 1000), ...SERIES.map((_, n) => all.map((point) => point[n + 1] / 60))]
}

function sizeOf(place) {
  return { width: place.clientWidth, height: place.clientWidth < 500 ? 200 : 260 }
}

/** As the canvas takes it: the name of a colour stands for one of each theme. */
function colour(name) {
  const probe = document.createElement('i')
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const found = getComputedStyle(probe).color
  probe.remove()
  return found
}

function optionsOf(place) {
  const axis = {
    stroke: () => colour('--muted'),
    grid: { stroke: () => colour('--line'), width: 1 },
    ticks: { show: false },
    font: '12px ui-sans-serif, system-ui, sans-serif',
  }
  return {
    ...sizeOf(place),
    // The last clock may stand below the end of the curves.
    padding: [null, 30, null, null],
    cursor: { points: { size: 7 }, drag: { x: true, y: false } },
    scales: { y: { range: (_, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [
      {
        ...axis,
        // A clock with its seconds is 52 px wide, and stands below the 0 of the other axis.
        space: 76,
        gap: 9,
        size: 36,
        values: (_, times) => times.map(times.at(-1) - times[0] < SECONDS_TOLD_BELOW ? clock : hour),
      },
      { ...axis, size: 48 },
    ],
    series: [
      { label: 'at', value: (of, at) => clock(at ?? lastOf(of, 0)) },
      ...SERIES.map(({ label, colour: name, fill }) => ({
        label,
        stroke: () => colour(name),
        ...(fill && { fill: () => colour(fill) }),
        width: 2,
        points: { show: false },
        value: (of, at, n) => rateWords(at ?? lastOf(of, n)),
      })),
    ],
  }
}

/** Where nobody points at the curves, their legend tells the last of each. */
function lastOf(of, n) {
  return of.data[n].at(-1)
}

function rateWords(rate) {
  return `${rate.toFixed(rate < 10 ? 2 : 0)}/s`
}

/** Of a curve of less than five minutes: minutes would be the same at each mark. */
const SECONDS_TOLD_BELOW = 300

function clock(at) {
  return new Date(at * 1000).toTimeString().slice(0, 8)
}

function hour(at) {
  return clock(at).slice(0, 5)
}

/** Figures move each second. A curve of an hour has moved by less than a dot then. */
const DRAWN_EVERY_MS = 5000
let drawnAt = 0

function addPoint() {
  if (performance.now() - drawnAt < DRAWN_EVERY_MS) return
  drawnAt = performance.now()
  const now = document.querySelector('[data-point]')?.dataset.point.split(' ').map(Number)
  if (!now || points.length === 0) return
  const before = points.at(-2)
  if (before && now[0] - before[0] < SAMPLE_MS) points[points.length - 1] = now
  else if (now[0] > points.at(-1)[0]) points.push(now)
  if (points.length > POINTS_MAX) points.shift()
  chart?.setData(columnsOf(points))
}

// On a narrow screen the views are a line that scrolls.
for (const place of document.querySelectorAll('.views [aria-current]'))
  place.scrollIntoView({ block: 'nearest', inline: 'center' })

const { events } = document.body.dataset
if (events) listen(events)
draw()
