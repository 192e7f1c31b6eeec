/** Bounds how many connections are open at once, per caller and in total. */
export interface PlaceBounds {
  readonly perCaller: number
  readonly total: number
}

export type Places = ReturnType<typeof places>

export function places({ perCaller, total }: PlaceBounds) {
  /** Contains only callers that hold a place. */
  const byCaller = new Map<string, number>()
  let all = 0
  function close(caller: string): void {
    all -= 1
    const left = (byCaller.get(caller) ?? 1) - 1
    if (left > 0) byCaller.set(caller, left)
    else byCaller.delete(caller)
  }
  return {
    /**
     * Returns a function that frees the place (calling it again has no effect), or the bound that was
     * reached.
     */
    open: (caller: string): (() => void) | 'caller' | 'total' => {
      const own = byCaller.get(caller) ?? 0
      if (own >= perCaller) return 'caller'
      if (all >= total) return 'total'
      all += 1
      byCaller.set(caller, own + 1)
      let isOpen = true
      return () => {
        if (isOpen) close(caller)
        isOpen = false
      }
    },
  }
}
