// Gets bench/ ready to run: installs the peers that its lockfile names, and redis-server where it is missing. Does only what
// is needed and says so; silent when there is nothing to do. Runs on Node 20, after scripts/setup.mjs.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))

/** Runs quietly; true when it went well, otherwise its output is shown. @param {string[]} command */
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

/** The npm that called us, or the one on the path. */
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
  // The peers need a newer Node than npm may run on here; they run on the one that came with the repository.
  if (!run([...npm(), 'ci', '--loglevel=error', '--no-engine-strict'])) {
    console.error('bench setup: npm ci failed; the reason is above')
    process.exit(1)
  }
  writeFileSync(stamp, wanted)
}

/** Without it everything but the systems on Redis is measured, so this is never a reason to give up. */
function installRedis() {
  if (spawnSync('redis-server', ['--version']).status === 0) return
  const fix = 'install redis-server to have the systems on Redis measured too'
  if (process.getuid?.() !== 0) return console.log(`bench setup: there is no redis-server; ${fix}`)
  console.log('bench setup: installing redis-server (apt-get)')
  // It is started by the benchmark itself, on a port of its own; the package must not start one.
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
  // A machine that was just made has no lists of packages yet.
  if (!run(['apt-get', 'update']) || !run(install)) console.error(`bench setup: apt-get failed; ${fix}`)
}

installPeers()
installRedis()
