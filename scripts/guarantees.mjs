// Counts the passing tests of each guarantee of docs/reference/guarantees.md, per store, as a Markdown table.
// Reads the report of the last test run, and runs the tests when there is none. Exit code 1: a guarantee has
// no passing test on a store, or a test that carries its number failed.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stores = ['sqlite', 'postgres']

/**
 * @typedef {{ number: string, title: string }} Guarantee
 * @typedef {{ fullName: string, ancestorTitles: string[], status: string }} Test
 * @typedef {{ table: string, problems: string[], notes: string[] }} Verdict
 */

/** @param {string} markdown @returns {Guarantee[]} */
export function readGuarantees(markdown) {
  return [...markdown.matchAll(/^\|\s*(P\d+)\s*\|([^|\n]*)\|\s*$/gm)].map(([, number = '', title = '']) => ({
    number,
    title: title.trim(),
  }))
}

/** @param {Guarantee[]} guarantees @param {Test[]} tests @returns {Verdict} */
export function judge(guarantees, tests) {
  const problems = []
  const notes = []
  const rows = []
  for (const { number, title } of guarantees) {
    const own = tests.filter(({ fullName }) => new RegExp(String.raw`\b${number}\b`).test(fullName))
    for (const test of own) if (test.status === 'failed') problems.push(`${number} failed: ${test.fullName}`)
    // The oracle is the reference that stores are compared with; it is not a store.
    const withoutStore = own.filter((test) => ![...stores, 'oracle'].some((store) => isOn(store, test)))
    for (const test of withoutStore)
      notes.push(`${number} is in a suite that names no store: ${test.fullName}`)
    const cells = stores.map((store) => {
      const passed = own.filter((test) => test.status === 'passed' && isOn(store, test)).length
      if (passed > 0) return String(passed)
      problems.push(`${number} has no passing test on ${store}`)
      return ''
    })
    rows.push(`| ${number} ${title} | ${cells.join(' | ')} |`)
  }
  const head = [`| guarantee | ${stores.join(' | ')} |`, `|---|${stores.map(() => '---:|').join('')}`]
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
    console.error('guarantees: no test report found (reports/tests.json). Running npm test first')
    // Continue after failing tests: the table below reports them.
    spawnSync('npm', ['test'], { cwd: root, stdio: ['ignore', 2, 2] })
  }
  if (!existsSync(report)) {
    console.error('guarantees: npm test wrote no report. Check its output above')
    return 1
  }
  const guarantees = readGuarantees(readFileSync(`${root}docs/reference/guarantees.md`, 'utf8'))
  if (guarantees.length === 0) {
    console.error(
      'guarantees: docs/reference/guarantees.md has no table of guarantees. Restore the rows that start with "| P1 |"',
    )
    return 1
  }
  const run = /** @type {{ testResults: { assertionResults: Test[] }[] }} */ (
    JSON.parse(readFileSync(report, 'utf8'))
  )
  const tests = run.testResults.flatMap((file) => file.assertionResults)
  const { table, problems, notes } = judge(guarantees, tests)
  const age = inWords(Date.now() - statSync(report).mtimeMs)
  console.log(`${table}\n\nFrom a run of ${tests.length} tests, ${age} ago.`)
  for (const note of notes) console.log(`note: ${note}`)
  for (const problem of problems) console.log(`MISSING PROOF: ${problem}`)
  return problems.length > 0 ? 1 : 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(main())
