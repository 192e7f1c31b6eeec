/**
 * Sends changes to the API: each action shows its result as a toast and refreshes everything on screen. An
 * action that can be undone needs no confirmation: it acts at once, and its toast offers to undo it.
 */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { noteAct } from './acted.ts'
import { ask, type Problem } from './client.ts'
import { say, sayProblem } from '../kit/overlays/toasts.tsx'

interface Done {
  /** What happened, such as "Paused mail". */
  readonly text: string
  /** The consequence, such as "15 scheduled jobs wait until you resume it." */
  readonly note?: string
  /** The action that undoes this one. */
  readonly back?: { readonly verb: string; readonly act: () => Act<never> }
}

export interface Act<T = unknown> {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** The toast shown on success. */
  readonly done: string | Done | ((answer: T) => string | Done)
}

export interface Acting<T> {
  /** Rejects with the problem after showing it as a toast; forms that show it themselves pass `quiet`. */
  readonly act: (act: Act<T>) => Promise<T>
  /** For a button that acts at once: a problem is shown only as a toast. */
  readonly actNow: (act: Act<never>) => void
  readonly isActing: boolean
}

export function useAct<T = unknown>({ quiet = false } = {}): Acting<T> {
  const client = useQueryClient()
  const { mutateAsync, isPending } = useMutation<T, Problem, Act<T>>({
    mutationFn: ({ method, path, body }) => ask<T>(path, { method, body }),
    onSuccess(answer, { done }) {
      const said = typeof done === 'function' ? done(answer) : done
      const { back, ...rest }: Done = typeof said === 'string' ? { text: said } : said
      say({ ...rest, back: back && { verb: back.verb, go: () => actNow(back.act()) } })
    },
    onError: (problem) => {
      if (!quiet) sayProblem(problem)
    },
    async onSettled() {
      await client.invalidateQueries()
      noteAct()
    },
  })
  function actNow(act: Act<never>): void {
    mutateAsync(act as Act<T>).catch(() => {})
  }
  return { act: mutateAsync, actNow, isActing: isPending }
}

export interface Pausing {
  /** The request that pauses (true) or resumes (false). */
  readonly request: (paused: boolean) => Omit<Act, 'done'>
  readonly done: (paused: boolean) => Omit<Done, 'back'>
}

/** Pauses or resumes. Each undoes the other. */
export function pauseAct(paused: boolean, { request, done }: Pausing): Act {
  const undo = (): Act => ({ ...request(!paused), done: done(!paused) })
  return { ...request(paused), done: { ...done(paused), back: { verb: 'Undo', act: undo } } }
}
