/** Users from an audit log, classes and risks from the policy: from the flag to what is printed and what stays in git. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditSource } from '@backporch/cluster/audit'
import { Failure } from '@backporch/kyaml/failure'
import { getResourceKey } from '@backporch/kyaml/resource'
import { type AuditSample, answered, auditedWrite } from '../../test/fakes/audit-samples.ts'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { TurnWorld, WEB_CONFIG } from '../../test/fakes/turn-world.ts'
import type { WantedAuditHook } from './context/cli-context.ts'

/** `editedBy` of the fakes writes at this time. */
const AT = '2026-11-21T09:30:00Z'
const ADA: AuditSample = {
  user: 'ada',
  actingAs: 'admin',
  manager: 'kubectl-edit',
  at: AT,
  response: answered(
    '2',
    { color: 'red', size: '5' },
    { 'kubectl-edit': { at: AT, keys: ['color'] } },
  ),
}

function source(...samples: AuditSample[]): AuditSource & { readonly requested: string[] } {
  const requested: string[] = []
  return {
    requested,
    writesTo: async (_cluster, wanted) => {
      requested.push(...wanted.map(getResourceKey))
      return {
        writes: new Map(wanted.map((id) => [getResourceKey(id), samples.map(auditedWrite)])),
        notes: [],
      }
    },
  }
}

function red(policy?: string): TurnWorld {
  const world = new TurnWorld(policy)
  world.edit(WEB_CONFIG, 'data.color', 'red')
  return world
}

test('with --audit-log diff names the user, and queries only the changed objects', async () => {
  const log = source(ADA)
  const { stdout, stderr, code } = await runInWorld(red(), ['diff', '--audit-log', '/audit.log'], {
    openAuditLog: async () => log,
  })
  assert.equal(code, 1)
  assert.match(
    stdout,
    /data\.color {2}"blue" . "red" {2}ada as admin \(kubectl-edit\) {2}human tool {2}2026-11-21T09:30:00Z {2}medium APP-CONFIG/,
  )
  assert.deepEqual(log.requested, ['/ConfigMap/shop/web'])
  assert.doesNotMatch(stderr, /note/)
  const explained = await runInWorld(red(), ['explain', 'apps/web', '--audit-log', '/audit.log'], {
    openAuditLog: async () => log,
  })
  assert.match(
    explained.stdout,
    /writer {2}ada acting as admin, by kubectl-edit \(Update, human-tool\), the audit log has this request; at/,
  )
})

test('an unreadable audit log is reported and hides no drift', async () => {
  const why = new Failure({
    code: 'BP1001',
    what: 'the audit log cannot be read',
    why: 'this user may not read it',
    remedy: 'x',
  })
  const broken: AuditSource = { writesTo: () => Promise.reject(why) }
  const { stdout, stderr, code } = await runInWorld(red(), ['diff', '--audit-log', '/audit.log'], {
    openAuditLog: async () => broken,
  })
  assert.equal(code, 1)
  assert.match(stdout, /kubectl-edit {2}human tool/)
  assert.match(
    stdout + stderr,
    /the audit log cannot be read: this user may not read it; field managers alone are named/,
  )
  const absent = await runInWorld(red(), ['diff', '--audit-log', '/audit.log'], {
    openAuditLog: () => Promise.reject(why),
  })
  assert.equal(absent.code, 2)
  assert.match(absent.stderr, /BP1001/)
})

test('a user named once stays named without the log, and nothing is rewritten', async () => {
  const world = red('{mode: Propose}')
  await runInWorld(world, ['scan', '--audit-log', '/audit.log'], {
    openAuditLog: async () => source(ADA),
  })
  const before = JSON.stringify([...(await world.repository.listRefs()).refs])
  await runInWorld(world, ['scan'])
  const after = JSON.stringify([...(await world.repository.listRefs()).refs])
  assert.equal(after, before)
  assert.match((await runInWorld(world, ['diff'])).stdout, /ada as admin \(kubectl-edit\)/)
})

test('a policy sets actor classes and risks, and explain shows where', async () => {
  const policy =
    '{actors: [{manager: "kubectl-*", class: controller}], riskOverrides: [{target: {kind: ConfigMap}, risk: critical}]}'
  assert.match(
    (await runInWorld(red(policy), ['diff'])).stdout,
    /kubectl-edit {2}controller {2}\S+ {2}critical APP-CONFIG/,
  )
  const { stdout } = await runInWorld(red(policy), ['explain', 'apps/web'])
  assert.match(stdout, /controller by the policy \(\.drift\/policy\.yaml:4\)/)
  assert.match(stdout, /risk critical instead of medium by the policy \(\.drift\/policy\.yaml:4\)/)
})

test('the controller accepts audit events only on loopback or with a token', async () => {
  const wanted: WantedAuditHook[] = []
  const openAuditHook = async (one: WantedAuditHook) => {
    wanted.push(one)
    return { source: source(ADA), url: 'http://x/audit', close: async () => undefined }
  }
  const open = await runInWorld(red(), ['controller', '--audit-webhook-address', '0.0.0.0:8081'], {
    openAuditHook,
    waits: [],
  })
  assert.equal(open.code, 2)
  assert.match(open.stderr, /BP1001[\s\S]*BACKPORCH_AUDIT_TOKEN/)
  assert.equal(wanted.length, 0)

  const world = red()
  const { code, stderr } = await runInWorld(
    world,
    ['controller', '--audit-webhook-address', '8081'],
    {
      openAuditHook,
      waits: [() => undefined],
    },
  )
  assert.equal(code, 0, stderr)
  assert.match(stderr, /"event":"listening","for":"audit events","url":"http:\/\/x\/audit"/)
  assert.deepEqual(
    [wanted[0]?.token, wanted[0]?.named, wanted[0]?.address.host],
    [undefined, false, '127.0.0.1'],
  )
  assert.match((await runInWorld(world, ['diff'])).stdout, /ada as admin/)
  const env = { BACKPORCH_AUDIT_TOKEN: 's3cret' }
  await runInWorld(red(), ['controller', '--audit-webhook-address', '0.0.0.0:8081'], {
    openAuditHook,
    waits: [],
    env,
  })
  assert.equal(wanted[1]?.token, 's3cret')
})
