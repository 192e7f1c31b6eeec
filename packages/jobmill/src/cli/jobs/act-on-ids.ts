/** Applies an action to jobs by id, one after the other, and reports the outcome of each. */
import type { BulkAct } from '../../runtime/operate/bulk.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { CancelAnswer, OperateAnswer } from '../../runtime/operate/operate.ts'
import { EXIT } from '../command.ts'
import { progressOf } from '../progress.ts'
import { type Cell, table } from '../table.ts'
import type { Terminal } from '../terminal.ts'

/** The answer of the library. */
type Answer = OperateAnswer | { readonly id: string; readonly answer: CancelAnswer }

export interface NamedJobs {
  readonly act: BulkAct
  readonly ids: readonly string[]
  /** Used by cancel only. */
  readonly reason: string | undefined
  readonly asJson: boolean
}

export async function actOnIds(mill: Mill, named: NamedJobs, terminal: Terminal): Promise<number> {
  const { act, ids, reason } = named
  const progress = progressOf(act, terminal)
  const answers: Answer[] = []
  for (const id of ids) {
    answers.push(await apply(mill, act, id, reason))
    progress.at(answers.length, ids.length)
  }
  progress.end()
  if (named.asJson) terminal.out(JSON.stringify({ act, jobs: answers }))
  else
    terminal.out(
      table(
        ['id', 'answer', 'hint'],
        answers.map((answer) => rowOf(act, answer)),
        '',
        terminal,
      ),
    )
  return answers.every(isDone) ? EXIT.done : EXIT.refused
}

async function apply(mill: Mill, act: BulkAct, id: string, reason: string | undefined): Promise<Answer> {
  switch (act) {
    case 'retry':
      return mill.retry(id)
    case 'run-now':
      return mill.runNow(id)
    case 'cancel':
      return { id, answer: await mill.cancel(id, reason) }
    case 'delete':
      return mill.delete(id)
  }
}

/** A job that already was in the wanted state counts as success. */
function isDone(answer: Answer): boolean {
  if ('answer' in answer) return answer.answer === 'cancelled' || answer.answer === 'requested'
  return answer.verdict === 'changed' || answer.verdict === 'unchanged'
}

const DONE: Readonly<Record<BulkAct, string>> = {
  retry: 'queued for retry',
  'run-now': 'ready',
  cancel: 'cancelled',
  delete: 'deleted',
}

const CANCEL_HINTS: Readonly<Record<CancelAnswer, string>> = {
  cancelled: '',
  requested: 'Running: its signal is aborted within a second',
  finished: 'Already ended',
  unknown: 'No job has this id',
}

function rowOf(act: BulkAct, answer: Answer): Cell[] {
  const style = isDone(answer) ? 'green' : 'red'
  if ('answer' in answer) return [answer.id, { text: answer.answer, style }, CANCEL_HINTS[answer.answer]]
  const { id, verdict, state, hint = '' } = answer
  const text = {
    changed: DONE[act],
    unchanged: `already ${state ?? 'gone'}`,
    refused: 'refused',
    unknown: 'unknown',
  }
  return [id, { text: text[verdict], style }, verdict === 'unknown' ? CANCEL_HINTS.unknown : hint]
}
