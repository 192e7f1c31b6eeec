/** Applies an action to jobs by id, one after the other, and reports the outcome of each. */
import type { BulkAct } from '../../runtime/operate/bulk/bulk.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { OperateAnswer } from '../../runtime/operate/operate.ts'
import { EXIT } from '../program/command.ts'
import { withProgress } from '../output/progress.ts'
import type { Answer } from '../output/print.ts'
import { type Cell, table } from '../output/table.ts'
import type { Terminal } from '../output/terminal.ts'

export interface NamedJobs {
  readonly act: BulkAct
  readonly ids: readonly string[]
  /** Used by cancel only. */
  readonly reason: string | undefined
}

export async function actOnIds(mill: Mill, named: NamedJobs, terminal: Terminal): Promise<Answer> {
  const { act, ids, reason } = named
  const answers: OperateAnswer[] = []
  await withProgress(act, terminal, async (at) => {
    for (const id of ids) {
      answers.push(await APPLY[act](mill, id, reason))
      at(answers.length, ids.length)
    }
  })
  const rows = answers.map((answer) => rowOf(act, answer))
  const text = table(['id', 'answer', 'hint'], rows, '', terminal)
  return {
    json: { act, jobs: answers },
    text,
    code: answers.every((answer) => isDone(act, answer)) ? EXIT.done : EXIT.refused,
  }
}

const APPLY: Readonly<
  Record<BulkAct, (mill: Mill, id: string, reason: string | undefined) => Promise<OperateAnswer>>
> = {
  retry: (mill, id) => mill.retry(id),
  'run-now': (mill, id) => mill.runNow(id),
  cancel: (mill, id, reason) => mill.cancel(id, reason ?? 'cancelled on the command line'),
  delete: (mill, id) => mill.delete(id),
}

/** A job that already was in the wanted state counts as success. */
function isDone(act: BulkAct, { verdict, state }: OperateAnswer): boolean {
  if (isBlocked(act, state)) return false
  return verdict === 'changed' || verdict === 'unchanged'
}

/** Whether the job is due and waits for its order key. */
function isBlocked(act: BulkAct, state: OperateAnswer['state']): boolean {
  return act === 'run-now' && state === 'scheduled'
}

const DONE: Readonly<Record<BulkAct, string>> = {
  retry: 'queued for retry',
  'run-now': 'ready',
  cancel: 'cancelled',
  delete: 'deleted',
}

function rowOf(act: BulkAct, answer: OperateAnswer): Cell[] {
  const style = isDone(act, answer) ? 'green' : 'red'
  const { id, verdict, state, hint = '' } = answer
  if (act === 'cancel' && state === 'running')
    return [id, { text: 'requested', style }, 'Running: its signal is aborted within a second']
  if (isBlocked(act, state)) return [id, { text: 'blocked', style }, hint]
  const text = {
    changed: DONE[act],
    unchanged: `already ${state ?? 'deleted'}`,
    refused: 'refused',
    unknown: 'unknown',
  }
  return [id, { text: text[verdict], style }, verdict === 'unknown' ? 'No job has this id' : hint]
}
