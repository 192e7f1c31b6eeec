// Prepares bench/: installs the peers of its lockfile, and redis-server when it is missing. Prints what it
// does, and nothing when all is in place. Runs on Node 20, after scripts/setup.mjs.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))

/** Runs quietly. Returns true on success, and shows the output otherwise. @param {string[]} command */
function run([program = '', ...args]) {
  const result = spawnSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (result.status === 0) return true
  process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}${result.error?.message ?? ''}\n`)
  return false
}

/** The npm that started this script, or the one on the PATH. */
function npm() {
  const { npm_execpath: script, npm_node_execpath: node } = process.env
  return script?.endsWith('npm-cli.js') ? [node ?? process.execPath, script] : ['npm']
}

function installPeers() {
  const hash = createHash('sha256')
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    hash.update(readFileSync(join(folder, file)))
  const wanted = hash.digest('hex')
  const stamp = join(folder, 'node_modules/.stamp')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  console.log('bench setup: installing the peers (npm ci in bench/, about half a minute)')
  // The peers need a newer Node than npm may run on here. They run on the Node that the repository installed.
  if (!run([...npm(), 'ci', '--loglevel=error', '--no-engine-strict'])) {
    console.error('bench setup: npm ci failed; the reason is above')
    process.exit(1)
  }
  writeFileSync(stamp, wanted)
}

/** Without Redis, all other systems are still measured, so a failure here is not an error. */
function installRedis() {
  if (spawnSync('redis-server', ['--version']).status === 0) return
  const fix = 'install redis-server to have the systems on Redis measured too'
  if (process.getuid?.() !== 0) return console.log(`bench setup: redis-server is not installed; ${fix}`)
  console.log('bench setup: installing redis-server (apt-get)')
  // The benchmark starts Redis on its own port, so the package must not start one.
  const install = [
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'RUNLEVEL=1',
    'apt-get',
    'install',
    '-y',
    'redis-server',
  ]
  if (spawnSync(install[0] ?? '', install.slice(1), { stdio: 'ignore' }).status === 0) return
  // A new machine has no package lists yet.
  if (!run(['apt-get', 'update']) || !run(install)) console.error(`bench setup: apt-get failed; ${fix}`)
}

installPeers()
installRedis()
