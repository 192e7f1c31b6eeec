// Gets a checkout ready to run: installs what the lockfile names, then compiles the packages. Does only what
// is needed and says so; silent when there is nothing to do. Runs on Node 20 before anything is installed.
//   node scripts/setup.mjs [--install-only] [--build] [PACKAGE …]     (--build compiles even when nothing changed)
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

/** @param {string[]} files paths from the root; a missing file counts as such */
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

/** Runs quietly; the output is shown only when the command fails. @param {string} what @param {string[]} command */
function run(what, [program = '', ...args]) {
  const result = spawnSync(program, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  if (result.error) fail(`${what} could not start: ${result.error.message}`)
  if (result.status === 0) return
  process.stderr.write(result.stdout + result.stderr)
  fail(`${what} failed (${result.signal ?? `exit code ${result.status}`}); the reason is above`)
}

/** The npm that called us, or the one on the path. */
function npm() {
  const { npm_execpath: script, npm_node_execpath: node } = process.env
  // `npm ci` empties node_modules, where the Node that runs this script may live; npm's own Node is the safer one.
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

/** The Node that came with the dependencies, or this one where there is none for the platform. */
function runtime() {
  const own = join(root, 'node_modules/.bin/node')
  if (existsSync(own)) return own
  if (nodeIsAtLeast(22, 14)) return process.execPath
  return fail(
    `Node ${needs.join('.')} or newer is needed; npm has none for ${process.platform} ${process.arch} in this project, ` +
      `and this is ${process.version}. Install Node 24 and try again.`,
  )
}

/** @param {string} pack a folder under packages/ @param {string} node @param {boolean} always */
function build(pack, node, always) {
  const folder = `packages/${pack}`
  if (!existsSync(join(root, folder, 'tsconfig.json')) || !existsSync(join(root, folder, 'src'))) return
  const dist = join(root, folder, 'dist')
  const stamp = join(dist, '.stamp')
  // A page is put together by Vite, a library is compiled file by file.
  const isPage = existsSync(join(root, folder, 'vite.config.ts'))
  const hash = hashOf([
    ...filesBelow(`${folder}/src`),
    ...(isPage
      ? [`${folder}/index.html`, `${folder}/vite.config.ts`, ...filesBelow(`${folder}/public`)]
      : []),
    `${folder}/tsconfig.json`,
    'tsconfig.base.json',
    'package-lock.json',
  ])
  if (!always && isStamped(stamp, hash)) return
  console.log(`setup: compiling ${folder}`)
  // Compiled beside the old output and swapped in at the end: a failed build leaves what was there, a good one
  // leaves no file of a source that is gone.
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
  writeFileSync(join(fresh, '.stamp'), hash)
  rmSync(dist, { recursive: true, force: true })
  renameSync(fresh, dist)
}

if (!nodeIsAtLeast(20, 0)) fail(`Node 20 or newer is needed to start with, and this is ${process.version}.`)
install()
const node = runtime()
if (!process.argv.includes('--install-only')) {
  const asked = process.argv.slice(2).filter((word) => !word.startsWith('--'))
  for (const pack of asked.length > 0 ? asked : readdirSync(join(root, 'packages')))
    build(pack, node, process.argv.includes('--build'))
}
