/** One query parameter of the URL, so that the current view can be shared. */
import { useSearchParams } from 'wouter'

/** Null removes it. Changes replace the history entry, so Back does not step through them. */
export function useSearchValue(key: string): readonly [string | null, (value: string | null) => void] {
  const [search, setSearch] = useSearchParams()
  return [
    search.get(key),
    (value) =>
      setSearch(
        (before) => {
          const next = new URLSearchParams(before)
          if (value === null || value === '') next.delete(key)
          else next.set(key, value)
          return next
        },
        { replace: true },
      ),
  ]
}
