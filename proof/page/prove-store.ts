/** The proof on one store: fills it, sets the scene, measures pages and an idle tab, performs the tasks. */
import type { Browser } from 'playwright-core'
import { jobmill } from 'jobmill'
import { type Place, storeAt } from '../cluster/places.ts'
import type { Closers } from '../closing.ts'
import { fill } from './fill.ts'
import { measureIdle } from './idle.ts'
import { measure } from './measure.ts'
import type { Options } from './options.ts'
import { perform, type TaskResult } from './perform.ts'
import { idleLine, pageLine, type StoreResults, taskLine } from './report.ts'
import { startServer } from './scene/processes.ts'
import { setScene } from './scene/scene.ts'
import { TASKS } from './tasks/all.ts'

export interface Given {
  readonly options: Options
  readonly place: Place
  readonly folder: string
  readonly browser: Browser
  readonly closers: Closers
}

export async function proveStore(given: Given): Promise<StoreResults> {
  const { options, place, folder, browser, closers } = given
  const name = place.store
  const { jobs, rounds, idleSeconds, themes, tasks: only } = options
  const store = await storeAt(place)
  console.log(`${name}: writing ${jobs.toLocaleString('en')} jobs`)
  const filled = await fill(store, jobs, (done) => console.log(`  ${done.toLocaleString('en')}`))
  // Looks at what the operator did; it runs no jobs.
  const mill = jobmill({ store, jobs: [], log: 'silent' })
  closers.add(() => mill.stop())
  await mill.open()
  const server = await startServer({ place })
  closers.add(server.stop)
  const { url } = server

  console.log(`${name}: setting the scene`)
  const scene = await setScene({ mill, url, place, folder, closers, filled })
  const isAsked = (id: string): boolean => only?.includes(id) ?? true
  const pages = isAsked('pages') ? await measure(browser, url, rounds) : []
  for (const page of pages) console.log(pageLine(name, page))
  const idle = isAsked('idle') ? await measureIdle(browser, server, idleSeconds) : null
  if (idle !== null) console.log(idleLine(name, idle))
  const tasks: TaskResult[] = []
  for (const task of TASKS.filter(({ id }) => isAsked(id))) {
    const result = await perform(task, { scene, browser, store: name, themes: themes[name] })
    console.log(taskLine(name, result))
    tasks.push(result)
  }
  return { store: name, pages, idle, tasks }
}
