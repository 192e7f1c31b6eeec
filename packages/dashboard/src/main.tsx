/** Where the page begins. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Problem } from './api/client.ts'
import { App } from './app.tsx'
import './style.css'

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // What was refused is refused again; what did not come may come.
      retry: (times, error) => times < 2 && !(error instanceof Problem && error.status < 500),
      refetchOnWindowFocus: false,
      staleTime: 500,
    },
  },
})

const root = document.querySelector('#page')
if (root === null) throw new Error('the page has no place to be in')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
)
