/** Entry point of the dashboard. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Problem } from './api/client.ts'
import { App } from './app.tsx'
import './style.css'

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // Only server errors are retried: a refused request would be refused again, and the live refresh
      // repeats a request that did not reach the server.
      retry: (times, error) => times < 2 && !(error instanceof Problem && error.status < 500),
      refetchOnWindowFocus: false,
      staleTime: 500,
    },
  },
})

const root = document.querySelector('#page')
if (root === null) throw new Error('element #page not found')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
)
