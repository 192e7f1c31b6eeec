/** Bounds how many connections are open at once, per caller and in total. */
export interface PlaceBounds {
  readonly perCaller: number
  readonly total: number
}

export interface Places {
  /**
   * Returns a function that frees the place (calling it again has no effect), or the bound that was reached.
   */
  readonly open: (caller: string) => (() => void) | 'caller' | 'total'
}

export function places({ perCaller, total }: PlaceBounds): Places {
  /** Contains only callers with an open place. */
  const byCaller = new Map<string, number>()
  let all = 0
  function close(caller: string): void {
    all -= 1
    const left = (byCaller.get(caller) ?? 1) - 1
    if (left > 0) byCaller.set(caller, left)
    else byCaller.delete(caller)
  }
  return {
    open(caller) {
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
