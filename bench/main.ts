// `npm run bench`: measures Jobmill and its peers in one run, interleaved on the same servers. Each
// measurement is a separate process (cell.ts). The run reports a cell that fails or hangs and continues with
// the next.
import { appendFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { guard } from '../test/support/programs/guardian.ts'
import { collector } from './cell/collector.ts'
import { noiseMeter } from './measure/cpu.ts'
import { describeMachine, loadNow } from './measure/machine.ts'
import { HELP, OptionError, type Options, readOptions } from './options.ts'
import { CASE_NAMES, planCells, type PlannedCell } from './plan/plan.ts'
import { progress } from './progress.ts'
import { TARGETS } from './report/targets.ts'
import { toJson } from './report/json.ts'
import { toMarkdown } from './report/markdown.ts'
import { type AboutServer, type Report, reportOf } from './report/report.ts'
import { runCell } from './cell/run-cell.ts'
import { type Server, startPostgresServer } from './servers/postgres.ts'
import { startRedisServer } from './servers/redis.ts'
import { startRestateServer } from './servers/restate.ts'
import { PAYLOAD_VARIABLE } from './system.ts'
import { SYSTEM_NAMES } from './systems.ts'

interface RunningServers {
  readonly postgres: Server
  readonly redis: Server | undefined
  readonly restate: Server | undefined
}

interface Setup {
  readonly options: Options
  readonly planned: readonly PlannedCell[]
  readonly servers: RunningServers
  readonly folder: string
}

async function measure({ options, planned, servers, folder }: Setup): Promise<Report> {
  const startedAt = new Date()
  const machine = describeMachine()
  const cells = planned.filter(({ store }) => store === 'sqlite' || servers[store] !== undefined)
  if (cells.length === 0)
    throw new OptionError('no requested case has these systems, or their server is not installed')
  const show = progress(cells)
  const collected = collector()
  const noise = noiseMeter()
  for (const cell of cells) {
    if (collected.hasGivenUp(cell)) {
      show.skipped()
      continue
    }
    const result = await runCell(cell, { servers, folder, quick: options.quick })
    collected.add(cell, result)
    show.done(cell, result)
  }
  return reportOf({
    startedAt: startedAt.toISOString(),
    minutes: Number(((Date.now() - startedAt.getTime()) / 60_000).toFixed(2)),
    quick: options.quick,
    payloadBytes: options.payload,
    machine: { ...machine, loadAfter: loadNow(), noise: Number(noise().toFixed(2)) },
    servers: aboutServers(servers),
    ...collected.results(),
  })
}

function aboutServers({ postgres, redis, restate }: RunningServers): AboutServer[] {
  return [aboutServer('PostgreSQL', postgres), aboutServer('Redis', redis), aboutServer('Restate', restate)]
}

function aboutServer(name: string, server: Server | undefined): AboutServer {
  const { version = 'not running', settings = 'its systems were skipped' } = server ?? {}
  return { name, version, settings }
}

/** Checks before the run, which takes an hour, that its results can be written. */
function checkWritable(option: string, file: string): void {
  try {
    mkdirSync(path.dirname(path.resolve(file)), { recursive: true })
    appendFileSync(file, '')
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new OptionError(`${option}: cannot write to ${file} (${why}). Pass a writable file`)
  }
}

function write(file: string, text: string): void {
  writeFileSync(file, text)
  console.log(`written: ${file}`)
}

function conclude(report: Report): void {
  for (const { case: name, store, against, ratio, way, target, met } of report.targets) {
    const sign = way === 'at least' ? '≥' : '≤'
    const verdict = met ? 'met   ' : 'MISSED'
    console.log(
      `${verdict}  ${name.padEnd(15)} ${store.padEnd(9)} ${String(ratio).padStart(7)} ${sign} ${target}  ${against}`,
    )
  }
  const missed = report.targets.filter(({ met }) => !met).length
  if (report.machine.noise > 0.2)
    console.log(`unrelated processes used ${report.machine.noise} cores: trust CPU per job rather than rates`)
  console.log(
    `${report.targets.length} of ${TARGETS} targets measured, ${missed} missed; ${report.failures.length} cells failed; ${report.minutes.toFixed(1)} minutes`,
  )
}

async function run(options: Options): Promise<void> {
  if (options.payload !== undefined) process.env[PAYLOAD_VARIABLE] = String(options.payload)
  checkWritable('--json', options.json)
  checkWritable('--markdown', options.markdown)
  const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-bench-'))
  // The guardian removes the folder even when this process is killed.
  const guardian = guard(folder, path.join(folder, 'no-server'))
  const planned = planCells(options)
  const hasRestate = planned.some(({ store }) => store === 'restate')
  const servers = {
    postgres: await startPostgresServer(),
    redis: await startRedisServer(),
    restate: hasRestate ? await startRestateServer() : undefined,
  }
  try {
    const report = await measure({ options, planned, servers, folder })
    conclude(report)
    write(options.json, toJson(report))
    write(options.markdown, toMarkdown(report))
    // A missed target or a failing peer is a result. Only a failure of Jobmill is an error.
    if (report.failures.some(({ system }) => system === 'jobmill')) process.exitCode = 1
  } finally {
    await servers.postgres.stop()
    await servers.redis?.stop()
    await servers.restate?.stop()
    await guardian.release()
  }
}

try {
  const options = readOptions(process.argv.slice(2), { cases: CASE_NAMES, systems: SYSTEM_NAMES })
  if (options === null) console.log(HELP)
  else await run(options)
} catch (error) {
  if (!(error instanceof OptionError)) throw error
  console.error(`bench: ${error.message}`)
  process.exitCode = 2
}
