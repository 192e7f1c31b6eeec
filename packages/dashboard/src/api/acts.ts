/** What the page does: each act says what became of it, and everything shown is asked for again. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ask, type Problem } from './client.ts'
import { say, sayProblem } from '../kit/toasts.tsx'

interface Act<T> {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** What is said when it is done: "Paused mail". */
  readonly done: string | ((answer: T) => string)
}

export interface Acting<T> {
  readonly act: (act: Act<T>) => Promise<T>
  readonly isActing: boolean
}

/** Rejects with the problem, which was shown by then; forms that show it themselves pass `quiet`. */
export function useAct<T = unknown>({ quiet = false } = {}): Acting<T> {
  const client = useQueryClient()
  const { mutateAsync, isPending } = useMutation<T, Problem, Act<T>>({
    mutationFn: ({ method, path, body }) => ask<T>(path, { method, body }),
    onSuccess: (answer, { done }) => say(typeof done === 'string' ? done : done(answer)),
    onError: (problem) => {
      if (!quiet) sayProblem(problem)
    },
    onSettled: () => client.invalidateQueries(),
  })
  return { act: mutateAsync, isActing: isPending }
}
