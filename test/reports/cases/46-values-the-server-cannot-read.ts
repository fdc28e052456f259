/** fluxcd/kustomize-controller#333: what the server refuses is in git, whether its object is there or not. */
import { type Lab, type ReportCase, tell } from '../lab.ts'
import { deployment } from '../manifests.ts'

/** The object, what is written in place of what, and a word of the server about it. */
const BAD = [
  ['Deployment', '512Mi', '512MB', /quantit|unit/i],
  ['Lease', '00.000000Z', '00Z', /parsing time|cannot parse/i],
  ['Deployment', 'containerPort: 80', 'containerPort: http', /expected numeric/i],
  ['CronJob', '0 3 * * *', 'every night', /schedule/i],
  ['HorizontalPodAutoscaler', 'averageValue: 1Gi', 'averageValue: "1 Gi"', /quantit|unit/i],
] as const

export const reported: ReportCase = {
  right:
    'what the server refuses is blocked, exit 3, with its words and the place in git, whether the object is there or not; never missing',
  before:
    'there: "try again"; not there: missing, Restore proposed; a word for a port: Behind, exit 0',
  async run(lab) {
    const good = OBJECTS(lab.namespace)
    await lab.files({ 'all.yaml': good })
    await lab.serverSide()
    for (const bad of BAD) await expectBlocked(lab, 'there', bad)
    await lab.pipe(good, 'delete', '--wait', '-f', '-')
    for (const bad of BAD) await expectBlocked(lab, 'not there', bad)
  },
}

async function expectBlocked(
  lab: Lab,
  where: string,
  [kind, from, to, words]: (typeof BAD)[number],
): Promise<void> {
  await lab.files({ 'all.yaml': OBJECTS(lab.namespace).replace(from, to) })
  const diff = await lab.diff()
  const said = await lab.told()
  const isLine = diff.lines.some((line) => line.includes(` ${kind}/`))
  const isBlocked =
    diff.code === 3 && !isLine && words.test(said) && /pkg\/all\.yaml:\d+/.test(said)
  lab.check(`${to}, ${where}`, isBlocked, isBlocked ? 'exit 3, blocked' : `${tell(diff)} · ${said}`)
}

const CONTAINER = 'ports: [{containerPort: 80}], resources: {requests: {memory: 512Mi}}'

const OBJECTS = (
  namespace: string,
): string => `${deployment(namespace, { container: CONTAINER })}---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: leader, namespace: ${namespace}}
spec: {leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.000000Z"}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: ${namespace}}
spec: {schedule: "0 3 * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "i:1"}]}}}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: ${namespace}}
spec:
  maxReplicas: 3
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics: [{type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 1Gi}}}]
`
