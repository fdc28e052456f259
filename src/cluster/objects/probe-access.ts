/** Our rights in a namespace and in the cluster, by `SelfSubjectRulesReview`, which stores nothing. */
import { formatJson, isJsonArray, type JsonObject, objectsIn, partOf, textsIn } from '@backporch/kyaml/json'
import type { ReadApi } from '../connection/cluster-api.ts'
import { jsonOf, notKubernetes, type RequestDescription } from '../connection/kubernetes-failure.ts'
import type { AccessRule, ClusterAccessAnswer } from '../ports/cluster.ts'

/** @throws Failure BP30xx */
export async function probeAccess(api: ReadApi, namespace: string, signal: AbortSignal): Promise<ClusterAccessAnswer> {
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } }
  const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'
  const requested: RequestDescription = { cluster: api.cluster, verb: 'create', resource: undefined, path }
  const response = await api.reviewRules(formatJson(body), requested, signal)
  const answer = jsonOf(response, requested)
  const listed = partOf(answer, 'status', 'resourceRules')
  if (!isJsonArray(listed)) throw notKubernetes(requested, 'its answer is not a review of rules')
  const time = Date.parse(response.headers.get('date') ?? '')
  return {
    rules: objectsIn(listed).map(ruleOf),
    incomplete: partOf(answer, 'status', 'incomplete') === true,
    serverTime: Number.isNaN(time) ? undefined : time,
  }
}

function ruleOf(rule: JsonObject): AccessRule {
  const texts = (key: string): readonly string[] => textsIn(partOf(rule, key))
  return { verbs: texts('verbs'), groups: texts('apiGroups'), resources: texts('resources'), names: texts('resourceNames') }
}
