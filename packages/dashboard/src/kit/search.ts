/** One value of the address, so that what is shown can be shared. */
import { useSearchParams } from 'wouter'

/** Null takes it out. Going back does not step through each of them. */
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
