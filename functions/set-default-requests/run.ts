#!/usr/bin/env node
import { runKptFunc } from '../sdk/sdk.ts'
import { setDefaultRequests } from './fn.ts'

await runKptFunc(setDefaultRequests)
