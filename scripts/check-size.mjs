// Compares the packages with the budgets in scripts/size-budget.json: the size of what `npm pack` would
// publish, the number of names that the root entry of `jobmill` exports, and the number of files in the
// largest folder of each package. Prints a table, and fails if a value exceeds its budget.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const BUDGET = 'scripts/size-budget.json'

/**
 * @typedef {object} Sizes
 * @property {number} packedKb  kilobytes to download
 * @property {number} unpackedKb  kilobytes on disk
 * @property {number} largestFolder  files in the largest folder below src
 * @property {number} [rootExports]
 */

/** @param {string} folder @returns {number} files directly in the largest folder, including this one */
function largestFolder(folder) {
  const entries = readdirSync(folder, { withFileTypes: true })
  const below = entries.filter((entry) => entry.isDirectory())
  return Math.max(
    entries.length - below.length,
    ...below.map((entry) => largestFolder(join(folder, entry.name))),
  )
}

/** @param {string} file an entry that only re-exports @returns {number} */
function exportsOf(file) {
  const lists = readFileSync(file, 'utf8').matchAll(/^export (?:type )?\{([^}]*)\}/gm)
  return [...lists].flatMap(([, names = '']) => names.split(',').filter((name) => name.trim() !== '')).length
}

/** What npm would publish, in kilobytes. @param {string[]} folders under packages/ */
function packedSizes(folders) {
  const args = [
    'pack',
    '--dry-run',
    '--json',
    '--ignore-scripts',
    ...folders.map((one) => `./packages/${one}`),
  ]
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`)
  /** @typedef {{ name: string, size: number, unpackedSize: number, files: { path: string }[] }} Packed */
  const packed = /** @type {Packed[]} */ (JSON.parse(stdout))
  return new Map(packed.map((one) => [one.name, one]))
}

const folders = readdirSync(join(root, 'packages')).filter((one) =>
  existsSync(join(root, 'packages', one, 'package.json')),
)
const budgets = /** @type {Record<string, Sizes>} */ (JSON.parse(readFileSync(join(root, BUDGET), 'utf8')))
const packed = packedSizes(folders)

/** @type {string[]} */
const problems = []
/** @type {string[][]} */
const rows = [['package', 'packed kB', 'unpacked kB', 'largest folder', 'root exports']]
for (const folder of folders) {
  const name = folder === 'jobmill' ? folder : `jobmill-${folder}`
  const found = packed.get(name)
  const budget = budgets[name]
  if (found === undefined || budget === undefined) {
    problems.push(`${name}: no budget. Add it to ${BUDGET}`)
    continue
  }
  const src = join(root, 'packages', folder, 'src')
  /** @type {Sizes} */
  const sizes = {
    packedKb: Math.ceil(found.size / 1000),
    unpackedKb: Math.ceil(found.unpackedSize / 1000),
    largestFolder: largestFolder(src),
    ...(folder === 'jobmill' && { rootExports: exportsOf(join(src, 'index.ts')) }),
  }
  const maps = found.files.filter(({ path }) => path.endsWith('.map'))
  if (maps.length > 0) problems.push(`${name}: publishes ${maps.length} source maps. Remove them`)
  rows.push([
    name,
    ...['packedKb', 'unpackedKb', 'largestFolder', 'rootExports'].map((key) => {
      const [size, most] = [sizes, budget].map((one) => one[/** @type {keyof Sizes} */ (key)])
      if (size === undefined) return ''
      if (most === undefined || size > most)
        problems.push(`${name}: ${key} is ${size}, and the budget is ${most ?? 'missing'}. Make it smaller`)
      return `${size} / ${most ?? '?'}`
    }),
  ])
}

const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
for (const row of rows)
  console.log(
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)
