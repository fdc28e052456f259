/** What our account may do in a namespace and in the cluster, by `SelfSubjectRulesReview`, which stores nothing. */

import type { AccessRule, ClusterAccessAnswer } from '../../ports/probes.ts'
import { formatJson, getKey, isJsonArray, isJsonObject, type JsonObject } from '../../text/json.ts'
import type { ReadApi } from './cluster-api.ts'
import { jsonOf, notKubernetes, type RequestDescription } from './kubernetes-failure.ts'

/** @throws Failure BP30xx */
export async function probeAccess(api: ReadApi, namespace: string, signal: AbortSignal): Promise<ClusterAccessAnswer> {
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } }
  const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'
  const requested: RequestDescription = { cluster: api.cluster, verb: 'create', resource: undefined, path }
  const response = await api.reviewRules(formatJson(body), requested, signal)
  const answer = jsonOf(response, requested)
  const status = isJsonObject(answer) ? getKey(answer, 'status') : undefined
  const listed = isJsonObject(status) ? getKey(status, 'resourceRules') : undefined
  if (!isJsonObject(status) || !isJsonArray(listed)) throw notKubernetes(requested, 'its answer is not a review of rules')
  const time = Date.parse(response.headers.get('date') ?? '')
  return {
    rules: listed.filter(isJsonObject).map(ruleOf),
    incomplete: getKey(status, 'incomplete') === true,
    serverTime: Number.isNaN(time) ? undefined : time,
  }
}

function ruleOf(rule: JsonObject): AccessRule {
  const texts = (key: string): readonly string[] => {
    const list = getKey(rule, key)
    return isJsonArray(list) ? list.filter((item) => typeof item === 'string') : []
  }
  return { verbs: texts('verbs'), groups: texts('apiGroups'), resources: texts('resources'), names: texts('resourceNames') }
}
