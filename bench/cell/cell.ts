// One measurement in one fresh process: `node bench/cell/cell.ts SPEC` runs one case with one system and
// prints one line of JSON. main.ts creates the place before and removes it afterwards, so a cell can be
// killed at any time.
import pg from 'pg'
import { loadCase } from '../cases.ts'
import type { Cell, Figure, ServerInfo } from '../case.ts'
import type { Place, Setting, System } from '../system.ts'
import { loadSystem } from '../systems.ts'
import { startWorkerProcess } from './worker-process.ts'

export interface CellSpec {
  readonly case: string
  readonly system: string
  readonly setting: Setting
  readonly place: Place
  readonly server: ServerInfo | undefined
  readonly round: number
  readonly jobs: number
  readonly warmUp: number
  readonly warmUpSeconds: number
  readonly seconds: number
}

export interface CellResult {
  readonly figures: readonly Figure[]
  readonly notes: readonly string[]
  /** Why the cell has no figures. */
  readonly error?: string
  readonly about: Pick<System, 'settings' | 'version' | 'keeps'>
}

/** Shutdown must not hang. Figures that were measured before it stay valid. */
const CLOSE_WITHIN_MS = 10_000

type Close = () => Promise<unknown>

function cellOf(spec: CellSpec, system: System, notes: string[], closing: Close[]): Cell {
  const { place } = spec
  const closedAtEnd = <Opened extends { stop(): Promise<void> }>(opened: Opened): Opened => {
    let stopped: Promise<void> | undefined
    const once = { ...opened, stop: () => (stopped ??= opened.stop()) }
    closing.push(() => once.stop())
    return once
  }
  return {
    ...spec,
    system,
    async open(how = { keep: true }) {
      if (system.open === undefined) throw new Error(`${system.name} is measured only with steps`)
      return closedAtEnd(await system.open(place, how))
    },
    async openSteps() {
      if (system.openSteps === undefined) throw new Error(`${system.name} has no durable steps`)
      return closedAtEnd(await system.openSteps(place))
    },
    async admin() {
      const client = new pg.Client({ connectionString: place.url })
      await client.connect()
      closing.push(() => client.end())
      return client
    },
    async startWorker(load) {
      const worker = await startWorkerProcess({
        system: system.name,
        setting: spec.setting,
        place,
        keep: true,
        load,
      })
      closing.push(() => worker.stop())
      return worker
    },
    note: (text) => void notes.push(text),
  }
}

async function close(closing: Close[], notes: string[]): Promise<void> {
  for (const end of closing.toReversed()) {
    const late = new Promise((_, reject) => {
      setTimeout(
        () => reject(new Error(`timed out after ${CLOSE_WITHIN_MS / 1_000} s`)),
        CLOSE_WITHIN_MS,
      ).unref()
    })
    await Promise.race([end(), late]).catch((error: unknown) =>
      notes.push(`stopping failed: ${String(error)}`),
    )
  }
}

async function measure(spec: CellSpec): Promise<CellResult> {
  const system = await loadSystem(spec.system, spec.place.store, spec.setting)
  const { settings, version, keeps } = system
  const about = { settings, version, keeps }
  const notes: string[] = []
  const closing: Close[] = []
  const benchCase = await loadCase(spec.case)
  try {
    if (spec.warmUp > 0 && benchCase.warmsUp !== true)
      await benchCase.run(cellOf({ ...spec, jobs: spec.warmUp }, system, [], closing))
    const figures = await benchCase.run(cellOf(spec, system, notes, closing))
    return { figures, notes, about }
  } catch (error) {
    return { figures: [], notes, about, error: error instanceof Error ? error.message : String(error) }
  } finally {
    await close(closing, notes)
  }
}

// The parent process is gone.
process.on('disconnect', () => process.exit(1))
const result = await measure(JSON.parse(process.argv[2] ?? '{}') as CellSpec)
// Exit explicitly, because some clients leave timers and sockets open.
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit())
