/** A real audit log names the user of every kind of hand edit, of removals and deletions too. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Change } from '../../src/record/documents/change.ts'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { webPackage } from './packages.ts'
import { runProgram } from './run-program.ts'
import { assertExit, openWorld, type World } from './world.ts'

await controlPlaneSuite('who did it', { auditLevel: 'RequestResponse' }, (plane) => {
  async function open(t: TestContext): Promise<{
    world: World
    namespace: string
    user: string
    kubectl: (...args: string[]) => Promise<void>
  }> {
    const namespace = await plane.namespace('who')
    const user = `ada-${namespace}`
    const kubeconfig = await plane.kubeconfigFor(user, ['system:masters'])
    const world = await openWorld(t, plane, {
      ...webPackage(namespace),
      'apps/web/more.yaml': more(namespace),
    })
    await world.sync('apps/web')
    const kubectl = async (...args: string[]): Promise<void> => {
      const run = await runProgram('kubectl', [...args, '-n', namespace], {
        cwd: world.folder,
        env: { ...process.env, KUBECONFIG: kubeconfig },
      })
      assert.equal(run.code, 0, run.stderr)
    }
    return { world, namespace, user, kubectl }
  }

  test('names the user of a scale, a changed or removed field and a deletion from the audit log only', async (t) => {
    const { world, namespace, user, kubectl } = await open(t)
    await kubectl('scale', 'deployment/web', '--replicas=5')
    await kubectl(
      'patch',
      'configmap/web',
      '--type=merge',
      '-p',
      '{"data":{"timeout":"60","theme":null}}',
    )
    await kubectl('label', 'configmap/web', 'example.com/more=yes')
    await kubectl('set', 'env', 'deployment/web', '-c', 'app', 'CURRENCY-')
    await kubectl('patch', 'secret/login', '-p', '{"stringData":{"password":"changed by hand"}}')
    await kubectl('delete', 'configmap/doomed')
    const log = plane.auditLog
    assert.ok(log !== undefined)

    const without = await changes(world)
    assert.deepEqual(
      without.filter(({ actor }) => actor.user !== undefined),
      [],
    )
    const found = await changes(world, '--audit-log', log)
    assert.deepEqual(found.map(reported).sort(), [
      `ConfigMap/doomed missing  by ${user} kubectl audit human-tool`,
      `ConfigMap/web added metadata.labels["example.com/more"] by ${user} kubectl-label audit human-tool`,
      `ConfigMap/web modified data.timeout by ${user} kubectl-patch audit human-tool`,
      `ConfigMap/web removed data.theme by ${user} kubectl-patch audit human-tool`,
      `Deployment/web modified spec.replicas by ${user} kubectl audit human-tool`,
      `Deployment/web removed spec.template.spec.containers[name=app].env[name=CURRENCY] by ${user} kubectl-set audit human-tool`,
      `Secret/login modified data.password by ${user} kubectl-patch audit human-tool`,
    ])
    assert.deepEqual(
      found.map(({ fingerprint }) => fingerprint).sort(),
      without.map(({ fingerprint }) => fingerprint).sort(),
      'who it was changes no fingerprint',
    )
    const explained = await world.backporch(
      'explain',
      'apps/web',
      'configmap/doomed',
      '--audit-log',
      log,
    )
    assert.match(
      explained.stdout,
      new RegExp(`writer  ${user}, by kubectl \\(human-tool\\), the audit log has this request`),
    )

    // At level Metadata the log has no bodies: what is by time and what is a guess is said to be.
    const metadata = join(world.folder, 'metadata.log')
    writeFileSync(metadata, withoutBodies(readFileSync(log, 'utf8'), namespace))
    const byTime = await changes(world, '--audit-log', metadata)
    const confidence = new Map(
      byTime.map((change) => [`${change.ref.kind} ${change.path ?? change.change}`, change.actor]),
    )
    assert.deepEqual(
      byTime.map(({ actor }) => actor.user),
      byTime.map(() => user),
    )
    assert.equal(confidence.get('ConfigMap data.timeout')?.confidence, 'audit-time')
    assert.equal(confidence.get('Deployment spec.replicas')?.confidence, 'audit-time')
    assert.equal(confidence.get('ConfigMap data.theme')?.confidence, 'last-writer')
    assert.equal(confidence.get('ConfigMap missing')?.confidence, 'audit')
  })

  async function changes(world: World, ...args: string[]): Promise<readonly Change[]> {
    const run = assertExit(await world.backporch('diff', 'apps/web', '-o', 'json', ...args), 1)
    assert.ok(
      !run.stdout.includes('changed by hand') && !run.stdout.includes('Y2hhbmdlZCBieSBoYW5k'),
    )
    const list: DriftReportList = JSON.parse(run.stdout)
    return list.items.flatMap(({ spec }) => spec.changes)
  }
})

function reported({ ref, change, path = '', actor }: Change): string {
  return `${ref.kind}/${ref.name} ${change} ${path} by ${actor.user} ${actor.manager} ${actor.confidence} ${actor.class}`
}

/** What the same server would have written at level Metadata. */
function withoutBodies(log: string, namespace: string): string {
  const own = log.split('\n').filter((line) => line.includes(`"namespace":"${namespace}"`))
  const events = own.map((line) => {
    const { requestObject: _request, responseObject: _response, ...event } = JSON.parse(line)
    return JSON.stringify({ ...event, level: 'Metadata' })
  })
  return `${events.join('\n')}\n`
}

function more(namespace: string): string {
  return `apiVersion: v1
kind: ConfigMap
metadata:
  name: doomed
  namespace: ${namespace}
data:
  answer: "42"
---
apiVersion: v1
kind: Secret
metadata:
  name: login
  namespace: ${namespace}
stringData:
  password: swordfish
`
}
