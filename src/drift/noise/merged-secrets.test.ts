import { test } from 'node:test'
import {
  annotated,
  assertMutes,
  assertNotAbout,
  assertShows,
  type Edit,
} from '../../../test/fakes/noise-samples.ts'

const RULE = 'merged-secrets'
const ESO = 'externalsecrets.external-secrets.io/db'
const add = (at: string, by: string, of = 'v1 Secret shop/db'): Edit => ({
  of,
  at,
  live: 'eA==',
  by,
})
const managed = {
  live: { metadata: { labels: { 'reconcile.external-secrets.io/managed': 'true' } } },
}
const patched = { desired: annotated({ 'sealedsecrets.bitnami.com/patch': 'true' }) }

test('mutes an entry that External Secrets adds to a Secret with its label', () => {
  assertMutes(RULE, add('data.password', ESO), managed)
  assertMutes(RULE, add('metadata.labels["reconcile.external-secrets.io/managed"]', ESO), managed)
  assertShows(
    RULE,
    add('data.password', 'kubectl-edit'),
    managed,
    /^kubectl-edit wrote it, and not External Secrets/,
  )
  assertNotAbout(RULE, add('data.password', ESO))
  assertNotAbout(RULE, { ...add('data.password', ESO), git: 'eQ==' }, managed)
  assertNotAbout(RULE, add('data.password', ESO, 'v1 ConfigMap shop/db'), managed)
  assertNotAbout(RULE, add('metadata.labels.app', ESO), managed)
})

test('mutes metadata that External Secrets copies from its object', () => {
  const liveOf = ({ kind, name }: { readonly kind: string; readonly name: string }) =>
    kind === 'ExternalSecret' && name === 'db'
      ? { metadata: { labels: { app: 'eA==' } } }
      : undefined
  assertMutes(RULE, add('metadata.labels.app', ESO), { ...managed, liveOf })
  assertNotAbout(RULE, add('metadata.labels.other', ESO), { ...managed, liveOf })
  assertShows(RULE, add('metadata.labels.app', 'kubectl-edit'), {
    ...managed,
    liveOf: () => ({ metadata: { labels: { app: 'eA==' } } }),
  })
})

test('mutes an entry that Sealed Secrets adds to a Secret marked for patching in git', () => {
  assertMutes(RULE, add('data.password', 'controller'), patched)
  assertShows(
    RULE,
    add('data.password', 'kubectl-edit'),
    patched,
    /^kubectl-edit wrote it, and not Sealed Secrets/,
  )
  // An annotation that was set in the cluster is none that somebody reviewed.
  assertNotAbout(RULE, add('data.password', 'controller'), { live: patched.desired })
  assertNotAbout(RULE, add('data.password', 'controller'))
})
