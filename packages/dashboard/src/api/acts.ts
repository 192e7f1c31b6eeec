/** Sends changes to the API: each action shows its result as a toast and refreshes everything on screen. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { noteAct } from './acted.ts'
import { ask, type Problem } from './client.ts'
import { say, sayProblem } from '../kit/overlays/toasts.tsx'

interface Act<T> {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** The toast shown on success, such as "Paused mail". */
  readonly done: string | ((answer: T) => string)
}

export interface Acting<T> {
  readonly act: (act: Act<T>) => Promise<T>
  readonly isActing: boolean
}

/** Rejects with the problem after showing it as a toast; forms that show it themselves pass `quiet`. */
export function useAct<T = unknown>({ quiet = false } = {}): Acting<T> {
  const client = useQueryClient()
  const { mutateAsync, isPending } = useMutation<T, Problem, Act<T>>({
    mutationFn: ({ method, path, body }) => ask<T>(path, { method, body }),
    onSuccess: (answer, { done }) => say(typeof done === 'string' ? done : done(answer)),
    onError: (problem) => {
      if (!quiet) sayProblem(problem)
    },
    async onSettled() {
      await client.invalidateQueries()
      noteAct()
    },
  })
  return { act: mutateAsync, isActing: isPending }
}
