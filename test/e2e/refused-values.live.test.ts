/** What the server would refuse is blocked, with its words and the place in git: neither missing, nor Behind, nor in sync. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { kptfile, policy } from './packages.ts'
import { assertExit, openWorld, type World } from './world.ts'

/** A part of the manifests, what somebody wrote for it, and what is said of it. */
const MISTAKES: readonly (readonly [name: string, part: string, mistake: string, why: RegExp])[] = [
  [
    'a quantity',
    'memory: 512Mi',
    'memory: 512MB',
    /a value does not fit its type: quantities must match/,
  ],
  ['a time', '00.000000Z', '00Z', /a value does not fit its type: parsing time/],
  ['a word for a port', 'containerPort: 80', 'containerPort: http', /expected numeric/],
  ['a text for a number', 'replicas: 1', 'replicas: one', /expected numeric/],
  ['a schedule', '0 3 * * *', 'every night', /expected exactly 5 fields/],
  [
    'a quantity with a blank',
    'averageValue: 1Gi',
    'averageValue: 1 Gi',
    /a value does not fit its type: quantities must match/,
  ],
  [
    'a field that the server does not know',
    'image: i:1\n',
    'image: i:1\n        imagePullPolice: Always\n',
    /the server does not know .*\.imagePullPolice and refuses/,
  ],
]

await controlPlaneSuite('refused values', {}, (plane) => {
  for (const [name, part, mistake, why] of MISTAKES)
    test(`${name}: blocked, whether or not the object exists`, async (t) => {
      const namespace = await plane.namespace('refused')
      const good = manifests(namespace)
      assert.ok(good.includes(part))
      const world = await openWorld(t, plane, {
        'apps/bad/Kptfile': kptfile('bad'),
        'apps/bad/all.yaml': good,
        ...policy('mode: Propose'),
      })
      await world.sync('apps/bad')
      assertExit(await world.backporch('diff'), 0)
      await world.commit({ 'apps/bad/all.yaml': good.replace(part, mistake) }, 'feat: a mistake')
      await assertBlocked(world, why)
      await world.kubectl('delete', 'deployment,lease,cronjob,hpa', '--all', '-n', namespace)
      await assertBlocked(world, why)
    })
})

async function assertBlocked(world: World, why: RegExp): Promise<void> {
  const run = assertExit(await world.backporch('diff', '-o', 'json'), 3)
  const list: DriftReportList = JSON.parse(run.stdout)
  assert.deepEqual(
    list.incomplete.map(({ state, code }) => [state, code]),
    [['blocked', 'BP3011']],
    run.stdout,
  )
  assert.match(list.incomplete[0]?.why ?? '', why)
  assert.deepEqual(
    list.items.flatMap(({ spec }) => spec.changes),
    [],
  )
  const shown = await world.backporch('diff')
  assert.match(shown.stdout + shown.stderr, /apps\/bad\/all\.yaml:\d+/)
}

function manifests(namespace: string): string {
  const metadata = (name: string): string => `metadata: {name: ${name}, namespace: ${namespace}}`
  return `apiVersion: apps/v1
kind: Deployment
${metadata('web')}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: i:1
        ports:
        - containerPort: 80
        resources:
          limits:
            memory: 512Mi
---
apiVersion: coordination.k8s.io/v1
kind: Lease
${metadata('lease')}
spec: {leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.000000Z"}
---
apiVersion: batch/v1
kind: CronJob
${metadata('night')}
spec:
  schedule: 0 3 * * *
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "i:2"}]}}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
${metadata('web')}
spec:
  maxReplicas: 3
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics:
  - type: Resource
    resource:
      name: memory
      target:
        type: AverageValue
        averageValue: 1Gi
`
}
