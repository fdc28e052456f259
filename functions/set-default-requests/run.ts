#!/usr/bin/env node
import { runKptFunc } from '../sdk.ts'
import { setDefaultRequests } from './fn.ts'

await runKptFunc(setDefaultRequests)
