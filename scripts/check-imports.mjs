// Enforces the layers of packages/jobmill/src: imports point down, there are no cycles, the root entry loads
// no optional dependency, and only platform/ uses the clock, timers, randomness and ids. Packages around it
// import only the entries that they may. Prints violations by file and line. A test calls these functions
// too, so that a violation also fails `npm test`.
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lineAt, readSource } from './read-source.mjs'

/** A folder may import folders of a lower rank. Folders of the same rank must not import each other. */
const ranks = new Map(
  Object.entries({
    platform: 0,
    job: 1,
    store: 2,
    'store-sqlite': 3,
    'store-postgres': 3,
    enqueue: 3,
    dispatch: 3,
    work: 3,
    upkeep: 3,
    limits: 3,
    observe: 3,
    runtime: 4,
    client: 5,
    orm: 5,
    probes: 5,
    cli: 6,
  }),
)

/** What the test kit may import: it starts a whole mill in memory, on one store. */
const openToTesting = ['platform', 'job', 'store', 'enqueue', 'work', 'observe', 'runtime', 'store-sqlite']

/**
 * The entries of our packages that another package may import. The conformance suite must work for stores of
 * third parties, so it gets what they get.
 * @type {Record<string, string[]>}
 */
export const openEntries = {
  conformance: ['jobmill/store', 'jobmill/testing'],
  server: ['jobmill', 'jobmill/store', 'jobmill/internal'],
}

/** Packages that may import any entry. Like the others, they have no import cycles. */
export const freePackages = ['dashboard', 'tables', 'telegram', 'uploads']

/** Optional dependencies: only the entry that needs one loads it. */
const optional = ['node:sqlite', '@opentelemetry/api']

/** Optional peers that a store loads at its first use, to say what to install if it is missing. */
const drivers = ['pg', 'better-sqlite3']
const loader = 'store/load-driver.ts'

/** @param {string[]} names @param {string} module */
const isOneOf = (names, module) => names.some((name) => module === name || module.startsWith(`${name}/`))

const fix = {
  timer: 'use the timers of platform/, so that a test can control them',
  clock: 'use the clock of platform/ (or of the database, when two processes must agree)',
  random: 'use the random source of platform/, so that a seed replays the run',
  id: 'mint ids with platform/, so that a seed replays the run',
}

/** What only platform/ may use. Keys and methods of the same name on other objects do not count. */
const reserved = [
  ...['setTimeout', 'setInterval', 'setImmediate'].map((name) => ({
    pattern: new RegExp(String.raw`(?:\bglobalThis\.|(?<![.\w$]))${name}\b(?!\s*\??:)`, 'g'),
    name,
    instead: fix.timer,
  })),
  { pattern: /\bAbortSignal\.timeout\b/g, name: 'AbortSignal.timeout', instead: fix.timer },
  { pattern: /\bDate\.now\b/g, name: 'Date.now', instead: fix.clock },
  { pattern: /\bnew\s+Date\b(?!\s*\(\s*[^)\s])/g, name: 'new Date()', instead: fix.clock },
  { pattern: /(?<![.\w$])(?<!new\s+)Date\(/g, name: 'Date()', instead: fix.clock },
  { pattern: /\bperformance\.now\b/g, name: 'performance.now', instead: fix.clock },
  { pattern: /\bprocess\.hrtime\b/g, name: 'process.hrtime', instead: fix.clock },
  { pattern: /\bMath\.random\b/g, name: 'Math.random', instead: fix.random },
  ...['randomBytes', 'randomInt', 'getRandomValues'].map((name) => ({
    pattern: new RegExp(String.raw`\b${name}\b`, 'g'),
    name,
    instead: fix.random,
  })),
  { pattern: /\brandomUUID\b/g, name: 'randomUUID', instead: fix.id },
]
const reservedModules = new Map([
  ['node:timers', fix.timer],
  ['node:timers/promises', fix.timer],
  ['timers', fix.timer],
  ['timers/promises', fix.timer],
])

/**
 * @typedef {import('./read-source.mjs').Import & { to: string | undefined }} Edge  `to` is a file of ours
 * @typedef {{ file: string, code: string, edges: Edge[] }} Node
 */

/** @param {string} dir @returns {string[]} paths from dir, with forward slashes */
function sourcesIn(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return sourcesIn(join(dir, entry.name)).map((file) => `${entry.name}/${file}`)
    return /\.[cm]?tsx?$/.test(entry.name) ? [entry.name] : []
  })
}

/** @param {string} src @returns {Map<string, Node>} */
function readTree(src) {
  /** @type {Map<string, Node>} */
  const nodes = new Map()
  for (const file of sourcesIn(src).toSorted()) {
    const { code, imports } = readSource(readFileSync(join(src, file), 'utf8'))
    const edges = imports.map((one) => ({
      ...one,
      to: one.module.startsWith('.') ? posix.join(dirname(file), one.module) : undefined,
    }))
    nodes.set(file, { file, code, edges })
  }
  return nodes
}

/** The folder under src/, or '' for an entry file. @param {string} file */
const folderOf = (file) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '')

/**
 * Returns why one file must not import another, or undefined when it may.
 * @param {string} from @param {string} to
 */
function objection(from, to) {
  const [a, b] = [folderOf(from), folderOf(to)]
  if (a === b || a === '') return undefined
  if (b === '') return 'an entry file is for users of the package. Import the file that it re-exports'
  if (b === 'testing') return 'testing/ is for users of the package and for tests. Nothing else may import it'
  if (a === 'testing') {
    return openToTesting.includes(b) ? undefined : `testing/ may import ${openToTesting.join(', ')} only`
  }
  const [rankA = -1, rankB = -1] = [ranks.get(a), ranks.get(b)]
  if (rankB < rankA) return undefined
  return rankA === rankB
    ? `${a}/ and ${b}/ are siblings and meet only in runtime/. Pass in what is needed`
    : `${b}/ is above ${a}/, and imports point down only. Move the code down, or pass it in`
}

/** @param {Map<string, Node>} nodes */
function* wrongDirections(nodes) {
  for (const { file, edges } of nodes.values()) {
    const folder = folderOf(file)
    if (folder !== '' && folder !== 'testing' && !ranks.has(folder)) {
      yield `${file}:1: the folder ${folder}/ has no layer. Add it to ranks in check-imports.mjs`
    }
    for (const { module, line, to, typeOnly } of edges) {
      const where = `${file}:${line}: imports '${module}'`
      if (!typeOnly && isOneOf(drivers, module))
        yield `${where}: load it with ${loader}, or import its types only`
      if (module === 'jobmill' || module.startsWith('jobmill/')) {
        yield `${where}: import the file itself inside the package`
      }
      if (to === undefined) continue
      if (!nodes.has(to)) {
        yield to.startsWith('..')
          ? `${where}: outside of src, so it would not be published`
          : `${where}: no such file. Check that the extension is .ts`
        continue
      }
      const why = objection(file, to)
      if (why) yield `${where}: ${why}`
    }
  }
}

/** Yields each cycle once, starting at its first file. @param {Map<string, Node>} nodes */
function* cycles(nodes) {
  const done = new Set()
  /** @type {string[]} */
  const path = []
  /** @param {string} file @returns {Generator<string>} */
  function* visit(file) {
    if (path.includes(file)) {
      yield `${file}:1: import cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`
      return
    }
    if (done.has(file)) return
    done.add(file)
    path.push(file)
    for (const { to } of nodes.get(file)?.edges ?? []) if (to !== undefined) yield* visit(to)
    path.pop()
  }
  for (const file of nodes.keys()) yield* visit(file)
}

/** A user of SQLite must not have to install pg, and the other way round. @param {Map<string, Node>} nodes */
function* driversFromRoot(nodes) {
  const queue = nodes.has('index.ts') ? [['index.ts']] : []
  const seen = new Set(queue.flat())
  for (const path of queue) {
    for (const { module, line, to, typeOnly } of nodes.get(path.at(-1) ?? '')?.edges ?? []) {
      if (typeOnly) continue
      if (isOneOf(optional, module) || to === loader) {
        yield `${path.at(-1)}:${line}: the root entry must load no driver, but it reaches '${module}': ${path.join(' → ')}`
      }
      if (to === undefined || seen.has(to)) continue
      seen.add(to)
      queue.push([...path, to])
    }
  }
}

/** @param {Map<string, Node>} nodes */
function* usesOfReserved(nodes) {
  for (const { file, code, edges } of nodes.values()) {
    if (folderOf(file) === 'platform') continue
    for (const { pattern, name, instead } of reserved) {
      for (const match of code.matchAll(pattern)) {
        yield `${file}:${lineAt(code, match.index)}: ${name} is for platform/ only: ${instead}`
      }
    }
    for (const { module, line } of edges) {
      const instead = reservedModules.get(module)
      if (instead) yield `${file}:${line}: '${module}' is for platform/ only: ${instead}`
    }
  }
}

/**
 * @param {string} src the folder that holds platform/, job/ and the rest
 * @returns {string[]} one line per violation, `file:line: what and why`; empty when there is none
 */
export function checkImports(src) {
  const nodes = readTree(src)
  return [...wrongDirections(nodes), ...cycles(nodes), ...driversFromRoot(nodes), ...usesOfReserved(nodes)]
}

/** @param {Map<string, Node>} nodes @param {string[]} open */
function* wrongEntries(nodes, open) {
  for (const { file, edges } of nodes.values()) {
    for (const { module, line, to } of edges) {
      const where = `${file}:${line}: imports '${module}'`
      if (/^jobmill(?:$|[/-])/.test(module) && !open.includes(module))
        yield `${where}: use ${open.join(' or ')}`
      if (to !== undefined && !nodes.has(to)) yield `${where}: no such file below src`
    }
  }
}

/**
 * @param {string} src the sources of a package around the library
 * @param {string[]} open the entries of our packages that it may import
 * @returns {string[]} one line per violation
 */
export function checkPackage(src, open) {
  const nodes = readTree(src)
  return [...wrongEntries(nodes, open), ...cycles(nodes), ...usesOfReserved(nodes)]
}

/** @param {string} src the sources of a package that may import any entry */
export function checkCycles(src) {
  return [...cycles(readTree(src))]
}

/** @param {string} name */
const sourcesOf = (name) => fileURLToPath(new URL(`../packages/${name}/src`, import.meta.url))

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const checks = [
    { name: 'jobmill', problems: checkImports(sourcesOf('jobmill')) },
    ...Object.entries(openEntries).map(([name, open]) => ({
      name,
      problems: checkPackage(sourcesOf(name), open),
    })),
    ...freePackages.map((name) => ({ name, problems: checkCycles(sourcesOf(name)) })),
  ]
  const lines = checks.flatMap(({ name, problems }) => problems.map((one) => `packages/${name}/src/${one}`))
  for (const line of lines) console.error(line)
  process.exit(lines.length > 0 ? 1 : 0)
}
