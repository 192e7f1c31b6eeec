// Shows which promises of docs/reference/guarantees.md the tests prove, on which store, as a Markdown table. Reads the
// report of the last real run, and makes one when there is none. Exit code 1: a promise without a passing test
// on a store, or a test that bears a promise's number and failed.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stores = ['sqlite', 'postgres']

/**
 * @typedef {{ number: string, title: string, comesWith: string }} Promised
 * @typedef {{ fullName: string, ancestorTitles: string[], status: string }} Test
 * @typedef {{ table: string, problems: string[], notes: string[] }} Verdict
 */

/** @param {string} markdown @returns {Promised[]} */
export function readPromises(markdown) {
  return [...markdown.matchAll(/^\|\s*(P\d+)\s*\|([^|\n]*)\|([^|\n]*)\|\s*$/gm)].map(
    ([, number = '', title = '', comesWith = '']) => ({
      number,
      title: title.trim(),
      comesWith: comesWith.trim(),
    }),
  )
}

/** @param {Promised[]} promises @param {Test[]} tests @returns {Verdict} */
export function judge(promises, tests) {
  const problems = []
  const notes = []
  const rows = []
  for (const { number, title, comesWith } of promises) {
    const own = tests.filter(({ fullName }) => new RegExp(String.raw`\b${number}\b`).test(fullName))
    for (const test of own) if (test.status === 'failed') problems.push(`${number} failed: ${test.fullName}`)
    // The oracle is what stores are held against, not a store.
    const homeless = own.filter((test) => ![...stores, 'oracle'].some((store) => isOn(store, test)))
    for (const test of homeless) notes.push(`${number} is in a suite that names no store: ${test.fullName}`)
    const cells = stores.map((store) => {
      const passed = own.filter((test) => test.status === 'passed' && isOn(store, test)).length
      if (passed > 0) return String(passed)
      if (comesWith !== '') return '–'
      problems.push(`${number} has no passing test on ${store}`)
      return ''
    })
    const when = comesWith === '' ? '' : ` (comes with ${comesWith})`
    rows.push(`| ${number} ${title}${when} | ${cells.join(' | ')} |`)
  }
  const head = [`| promise | ${stores.join(' | ')} |`, `|---|${stores.map(() => '---:|').join('')}`]
  return { table: [...head, ...rows].join('\n'), problems, notes }
}

/** @param {string} store @param {Test} test */
const isOn = (store, { ancestorTitles }) => ancestorTitles.join(' ').toLowerCase().includes(store)

/** @param {number} ms */
function inWords(ms) {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 1) return 'less than a minute'
  if (minutes < 120) return `${minutes} min`
  return minutes < 2880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} days`
}

function main() {
  const report = `${root}reports/tests.json`
  if (!existsSync(report)) {
    console.error('guarantees: there is no report of a test run yet; running npm test first')
    // Failing tests are no reason to stop: what they say about the promises is the question.
    spawnSync('npm', ['test'], { cwd: root, stdio: ['ignore', 2, 2] })
  }
  if (!existsSync(report)) {
    console.error('guarantees: npm test left no report; see above')
    return 1
  }
  const promises = readPromises(readFileSync(`${root}docs/reference/guarantees.md`, 'utf8'))
  if (promises.length === 0) {
    console.error('guarantees: found no list in docs/reference/guarantees.md')
    return 1
  }
  const run = /** @type {{ testResults: { assertionResults: Test[] }[] }} */ (
    JSON.parse(readFileSync(report, 'utf8'))
  )
  const tests = run.testResults.flatMap((file) => file.assertionResults)
  const { table, problems, notes } = judge(promises, tests)
  const age = inWords(Date.now() - statSync(report).mtimeMs)
  console.log(`${table}\n\nFrom a run of ${tests.length} tests, ${age} ago.`)
  for (const note of notes) console.log(`note: ${note}`)
  for (const problem of problems) console.log(`MISSING PROOF: ${problem}`)
  return problems.length > 0 ? 1 : 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(main())
