// Prepares a checkout: installs the dependencies of the lockfile, then compiles the packages. Skips what is
// up to date, and prints only what it does. Runs on Node 20, before anything is installed.
//
//   node scripts/setup.mjs [--install-only] [--build] [PACKAGE …]   (--build compiles even without changes)
import { dropDeclarations } from './drop-declarations.mjs'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const needs = [22, 14]

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(`setup: ${message}`)
  process.exit(1)
}

/** @param {number} major @param {number} minor */
function nodeIsAtLeast(major, minor) {
  const [a = 0, b = 0] = process.versions.node.split('.').map(Number)
  return a > major || (a === major && b >= minor)
}

/** @param {string[]} files paths from the root; a missing file changes the hash too */
function hashOf(files) {
  const hash = createHash('sha256')
  for (const file of files) {
    hash.update(`${file}\0`)
    const path = join(root, file)
    if (existsSync(path)) hash.update(readFileSync(path))
    hash.update('\0')
  }
  return hash.digest('hex')
}

/** @param {string} dir @returns {string[]} every file below it, sorted, as paths from the root */
function filesBelow(dir) {
  return readdirSync(join(root, dir), { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${dir}/${entry.name}`
      return entry.isDirectory() ? filesBelow(path) : [path]
    })
    .toSorted()
}

/** @param {string} path @param {string} hash */
function isStamped(path, hash) {
  return existsSync(path) && readFileSync(path, 'utf8') === hash
}

/** Runs a command and shows its output only when it fails. @param {string} what @param {string[]} command */
function run(what, [program = '', ...args]) {
  const result = spawnSync(program, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  if (result.error) fail(`${what} did not start: ${result.error.message}`)
  if (result.status === 0) return
  process.stderr.write(result.stdout + result.stderr)
  fail(`${what} failed (${result.signal ?? `exit code ${result.status}`}). See its output above`)
}

/** The npm that started this script, or the one on the PATH. */
function npm() {
  const { npm_execpath: script, npm_node_execpath: node } = process.env
  // `npm ci` empties node_modules, which may contain the Node that runs this script, so use npm's own Node.
  return script?.endsWith('npm-cli.js') ? [node ?? process.execPath, script] : ['npm']
}

function install() {
  const stamp = join(root, 'node_modules/.stamp')
  const hash = hashOf(['package-lock.json', '.npmrc'])
  if (isStamped(stamp, hash)) return
  console.log('setup: installing dependencies (npm ci, about half a minute)')
  run('npm ci', [...npm(), 'ci', '--loglevel=error'])
  writeFileSync(stamp, hash)
}

/** The Node from the dependencies, or this one on platforms that npm has none for. */
function runtime() {
  const own = join(root, 'node_modules/.bin/node')
  if (existsSync(own)) return own
  if (nodeIsAtLeast(22, 14)) return process.execPath
  return fail(
    `Node ${needs.join('.')} or newer is required (got ${process.version}), and this project bundles none for ` +
      `${process.platform} ${process.arch}. Install Node 24 and run the command again.`,
  )
}

/** @param {string} pack a folder under packages/ @param {string} node @param {boolean} always */
function build(pack, node, always) {
  const folder = `packages/${pack}`
  if (!existsSync(join(root, folder, 'tsconfig.json')) || !existsSync(join(root, folder, 'src'))) return
  const dist = join(root, folder, 'dist')
  const stamp = join(dist, '.stamp')
  // Vite bundles the dashboard; tsc compiles libraries file by file.
  const isPage = existsSync(join(root, folder, 'vite.config.ts'))
  const hash = hashOf([
    ...filesBelow(`${folder}/src`),
    ...(isPage
      ? [`${folder}/index.html`, `${folder}/vite.config.ts`, ...filesBelow(`${folder}/public`)]
      : []),
    `${folder}/tsconfig.json`,
    'tsconfig.base.json',
    'package-lock.json',
    'scripts/drop-declarations.mjs',
  ])
  if (!always && isStamped(stamp, hash)) return
  console.log(`setup: compiling ${folder}`)
  // Compile into a new folder and swap it in at the end. A failed build keeps the old output, and a
  // successful one keeps no file whose source was deleted.
  const fresh = join(root, folder, `dist.${process.pid}`)
  process.on('exit', () => rmSync(fresh, { recursive: true, force: true }))
  run(
    `compiling ${folder}`,
    isPage
      ? [
          node,
          join(root, 'node_modules/vite/bin/vite.js'),
          'build',
          folder,
          '--outDir',
          fresh,
          '--logLevel',
          'warn',
        ]
      : [node, join(root, 'node_modules/typescript/bin/tsc'), '-p', folder, '--outDir', fresh],
  )
  mkdirSync(fresh, { recursive: true })
  if (!isPage) dropDeclarations(fresh, manifestOf(pack))
  writeFileSync(join(fresh, '.stamp'), hash)
  rmSync(dist, { recursive: true, force: true })
  renameSync(fresh, dist)
}

/**
 * @typedef {object} Manifest
 * @property {string} [name]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [peerDependencies]
 * @property {Record<string, string>} [devDependencies]
 * @property {Record<string, object>} [peerDependenciesMeta]  the optional ones
 * @property {unknown} [exports]
 */

/** @param {string} pack a folder under packages/ */
function manifestOf(pack) {
  const path = join(root, 'packages', pack, 'package.json')
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '{}'
  return /** @type {Manifest} */ (JSON.parse(text))
}

/**
 * The folders under packages/, each after those that it depends on: it compiles against their declarations.
 * @param {string[]} asked @param {string[]} ordered
 */
function inOrder(asked, ordered = []) {
  for (const pack of asked) {
    if (ordered.includes(pack)) continue
    const { dependencies, peerDependencies, devDependencies, peerDependenciesMeta = {} } = manifestOf(pack)
    const needs = Object.keys({ ...dependencies, ...peerDependencies })
    // The dashboard bundles code of the core, which is therefore no dependency of the published package.
    if (pack === 'dashboard' && devDependencies?.['jobmill'] !== undefined) needs.push('jobmill')
    const isNeeded = (/** @type {string} */ other) => {
      const { name = '' } = manifestOf(other)
      return needs.includes(name) && !(name in peerDependenciesMeta)
    }
    inOrder(readdirSync(join(root, 'packages')).filter(isNeeded), ordered)
    ordered.push(pack)
  }
  return ordered
}

if (!nodeIsAtLeast(20, 0))
  fail(`Node 20 or newer is required (got ${process.version}). Install Node 24 and run the command again.`)
install()
const node = runtime()
if (!process.argv.includes('--install-only')) {
  const asked = process.argv.slice(2).filter((word) => !word.startsWith('--'))
  for (const pack of inOrder(asked.length > 0 ? asked : readdirSync(join(root, 'packages'))))
    build(pack, node, process.argv.includes('--build'))
}
