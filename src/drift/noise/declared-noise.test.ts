import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { getResourceKey } from '@backporch/kyaml/resource'
import {
  annotated,
  assertMutes,
  assertNotAbout,
  assertShows,
  type Edit,
} from '../../../test/fakes/noise-samples.ts'
import type { Surroundings } from './noise-rule.ts'

const WEB = 'v1 Pod shop/web'
const ignores = annotated({ 'client.lifecycle.config.k8s.io/mutation': 'ignore' })
const edit: Edit = {
  of: WEB,
  at: 'spec.activeDeadlineSeconds',
  git: 5,
  live: 7,
  by: 'kubectl-edit',
}

test('mutation: ignore in git and in the cluster ignores every field of the object', () => {
  const both = { desired: ignores, live: ignores }
  assertMutes('mutation-ignore', edit, both)
  assertMutes('mutation-ignore', { ...edit, change: 'removed' }, both)
  assertMutes('mutation-ignore', { ...edit, git: undefined }, both)
})

test('mutation: ignore on one side only mutes nothing, since set manually it would hide other edits', () => {
  assertShows('mutation-ignore', edit, { live: ignores }, /git does not have the annotation/)
  assertShows(
    'mutation-ignore',
    edit,
    { desired: ignores },
    /the live object does not have the annotation/,
  )
  assertNotAbout('mutation-ignore', edit, {
    desired: annotated({ 'client.lifecycle.config.k8s.io/mutation': 'other' }),
  })
  assertNotAbout(
    'mutation-ignore',
    { ...edit, change: 'missing', at: 'x' },
    { desired: ignores, live: ignores },
  )
})

const HOST = 'spec.containers[name=app].env[name=HOST].value'

function substituting(
  token: string,
  git: string,
  targetPath: string,
  sourcePath = '$.status.podIP',
): JsonObject {
  const annotation = `- sourceRef: {kind: Pod, name: db, namespace: shop}\n  sourcePath: ${sourcePath}\n  targetPath: ${JSON.stringify(targetPath)}\n  token: ${JSON.stringify(token)}\n`
  return {
    metadata: { annotations: { 'config.kubernetes.io/apply-time-mutation': annotation } },
    spec: { containers: [{ name: 'side' }, { name: 'app', env: [{ name: 'HOST', value: git }] }] },
  }
}
const set = (git: string, live: string, by = 'ci Apply'): Edit => ({
  of: WEB,
  at: HOST,
  git,
  live,
  by,
})
const db = { status: { podIP: '10.1.2.3' } }
const liveOf: Surroundings['liveOf'] = (id) =>
  getResourceKey(id) === '/Pod/shop/db' ? db : undefined

test('mutes a value that the applier substitutes, for every form of the annotation', () => {
  const git = 'http://@ip@:80'
  for (const target of [
    '$.spec.containers[?(@.name=="app")].env[?(@.name=="HOST")].value',
    '$.spec.containers[1].env[0].value',
    "$['spec'].containers[1].env[?(@.name=='HOST')].value",
  ]) {
    assertMutes('apply-time-mutation', set(git, 'http://10.1.2.3:80'), {
      desired: substituting('@ip@', git, target),
      liveOf,
    })
  }
  const desired = substituting('@ip@', git, '$.spec.containers[1].env[0].value')
  assertMutes('apply-time-mutation', set(git, 'http://10.9.9.9:80'), { desired })
  assertShows(
    'apply-time-mutation',
    set(git, 'http://10.9.9.9:80'),
    { desired, liveOf },
    /not what the substitution gives/,
  )
  assertShows(
    'apply-time-mutation',
    set(git, 'ftp://10.1.2.3:80'),
    { desired },
    /not what the substitution gives/,
  )
  assertMutes('apply-time-mutation', set('', '10.1.2.3'), {
    desired: substituting('', '', '$.spec.containers[1].env[0].value'),
    liveOf,
  })
})

test('shows the same path written by a person, another path, and an unreadable annotation', () => {
  const git = '@ip@'
  const desired = substituting('@ip@', git, '$.spec.containers[1].env[0].value')
  assertShows(
    'apply-time-mutation',
    set(git, '10.1.2.3', 'kubectl-edit'),
    { desired, liveOf },
    /^kubectl-edit wrote it, and not the syncer$/,
  )
  assertNotAbout(
    'apply-time-mutation',
    { ...set(git, 'x'), at: 'spec.containers[name=side].image' },
    { desired, liveOf },
  )
  assertNotAbout('apply-time-mutation', set(git, '10.1.2.3'), {
    desired: substituting('@ip@', git, '$.spec.containers[0].env[0].value'),
  })
  assertNotAbout('apply-time-mutation', set(git, '10.1.2.3'), {
    desired: substituting('@ip@', git, '$..value'),
  })
  assertNotAbout('apply-time-mutation', set(git, 'x'))
  assertShows(
    'apply-time-mutation',
    set(git, 'x'),
    { desired: annotated({ 'config.kubernetes.io/apply-time-mutation': '{' }) },
    /cannot be read/,
  )
  // Set in the cluster alone it says nothing about git.
  assertNotAbout('apply-time-mutation', set(git, '10.1.2.3'), { live: desired, liveOf })
})
